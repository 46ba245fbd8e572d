package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"macaron/internal/errs"
	"macaron/internal/tool"
)

// Bounds of one request.
const (
	maxBody      = 1 << 20 // bytes of an answer that are kept, after decompression
	maxRedirects = 5
	maxRequest   = 30 * time.Second
)

// Web are the tools that send requests to any host of a list.
type Web struct {
	Network Network
	Hosts   Hosts
	Within  Hosts // a second list that a host must be on; nil: there is none
}

func (w Web) allow(u *url.URL) error {
	if w.Within != nil {
		if err := w.Within.Allow(u); err != nil {
			return err
		}
	}
	return w.Hosts.Allow(u)
}

// Tools lists them: get, send.
func (w Web) Tools() map[string]tool.Tool {
	address := `"url":{"type":"string","minLength":1,"maxLength":4096}`
	return map[string]tool.Tool{
		"http.get": function[request]{tool.Def{Name: "http_get", Effect: tool.Read, Parameters: schema(address, `"url"`),
			Description: "Fetch an http or https address of an allowed host."}, w.get},
		"http.send": function[request]{tool.Def{Name: "http_send", Effect: tool.Irreversible, Approval: true,
			Parameters:  schema(address+`,"method":{"enum":["POST","PUT","PATCH","DELETE"]},"body":{"description":"sent as JSON"}`, `"url","method"`),
			Description: "Send a request that may change something to an allowed host."}, w.send},
	}
}

type request struct {
	URL    string          `json:"url"`
	Method string          `json:"method"`
	Body   json.RawMessage `json:"body"`
}

// Answer is what a server said.
type Answer struct {
	Status    int             `json:"status"`
	Type      string          `json:"type,omitempty"`
	JSON      json.RawMessage `json:"json,omitempty"` // of a JSON answer that is whole
	Text      string          `json:"text,omitempty"` // of any other text
	Truncated bool            `json:"truncated,omitempty"`
	Bytes     int             `json:"bytes"`
}

func (w Web) get(ctx context.Context, r request) (any, error) {
	return w.exchange(ctx, request{URL: r.URL, Method: http.MethodGet}, nil, nil)
}

func (w Web) send(ctx context.Context, r request) (any, error) {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return w.exchange(ctx, r, nil, nil)
	}
	return nil, bad("the method is not one of POST, PUT, PATCH, DELETE", "")
}

// exchange sends one request. With secrets in it, redirects stay with the server that it
// was meant for, and the secrets are taken out of whatever comes back.
func (w Web) exchange(ctx context.Context, r request, header http.Header, secrets *tool.Taint) (Answer, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return Answer{}, bad("the url cannot be read", "")
	}
	if err := w.allow(u); err != nil {
		return Answer{}, err
	}
	ctx, stop := context.WithTimeout(ctx, maxRequest)
	defer stop()
	q, err := http.NewRequestWithContext(ctx, r.Method, u.String(), bytes.NewReader(r.Body))
	if err != nil {
		return Answer{}, bad("the request cannot be made", "")
	}
	q.Header.Set("User-Agent", "macaron")
	if len(r.Body) > 0 {
		q.Header.Set("Content-Type", "application/json")
	}
	for k := range header {
		q.Header.Set(k, header.Get(k))
	}
	client := http.Client{CheckRedirect: w.redirects(secrets != nil), Transport: &http.Transport{
		DialContext: w.Network.dial, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10, TLSHandshakeTimeout: 10 * time.Second,
	}}
	p, err := client.Do(q)
	if err != nil {
		return Answer{}, told(ctx, u.Host, err)
	}
	defer p.Body.Close()
	return answer(ctx, u.Host, p, secrets)
}

// redirects checks every further address as the first one was.
func (w Web) redirects(stay bool) func(*http.Request, []*http.Request) error {
	return func(q *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errs.Newf(errs.UpstreamFailed, "the server redirects more than %d times", maxRedirects)
		}
		if first := via[0].URL; stay && (q.URL.Scheme != first.Scheme || q.URL.Host != first.Host) {
			return errs.New(errs.Forbidden, "the server redirects a request that carries a secret to another server", "")
		}
		return w.allow(q.URL)
	}
}

// told gives an error that names the host and no more of the address, which may hold a secret.
func told(ctx context.Context, host string, err error) error {
	var coded *errs.Error
	switch {
	case errors.As(err, &coded):
		return coded
	case ctx.Err() != nil:
		return errs.Wrap(errs.Canceled, ctx.Err(), errs.Clip(host)+" did not answer in time", "")
	}
	return errs.Wrap(errs.UpstreamUnavailable, err, "the connection to "+errs.Clip(host)+" failed", "")
}

func answer(ctx context.Context, host string, p *http.Response, secrets *tool.Taint) (Answer, error) {
	b, err := io.ReadAll(io.LimitReader(p.Body, maxBody+1))
	if err != nil {
		return Answer{}, told(ctx, host, err)
	}
	a := Answer{Status: p.StatusCode, Truncated: len(b) > maxBody, Bytes: min(len(b), maxBody)}
	b = b[:a.Bytes]
	if secrets != nil {
		b = []byte(secrets.Clean(string(b)))
	}
	a.Type, _, err = mime.ParseMediaType(p.Header.Get("Content-Type"))
	if err != nil {
		a.Type = ""
	}
	switch {
	case !a.Truncated && (a.Type == "application/json" || strings.HasSuffix(a.Type, "+json")) && json.Valid(b) && utf8.Valid(b):
		a.JSON = b
	case utf8.Valid(b) || a.Truncated && !bytes.ContainsRune(b, 0):
		a.Text = strings.ToValidUTF8(string(b), "\uFFFD")
	}
	return a, nil
}
