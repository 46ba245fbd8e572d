// Package tinkerclient is a client of the Tinker protocol, as a loop that trains needs it:
// sessions, one adapter under training, its checkpoints and their archives. It speaks the
// JSON dialect, which servers of every version of the protocol here take, and knows the
// server by its address alone: the embedded service and one elsewhere are the same to it.
//
// Whoever keeps the names of a session and a model can be stopped anywhere and go on: an
// operation has a number, and a server carries out a number once.
package tinkerclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"macaron/internal/errs"
)

// Options set up a Client. URL is needed.
type Options struct {
	URL  string                                     // of the server, to which /api/v1/ is added
	Key  string                                     // X-API-Key; "": none is sent
	HTTP *http.Client                               // nil: one of its own. Redirects are followed by neither
	Wait func(context.Context, time.Duration) error // between tries; nil: by the clock
}

// Client is safe for concurrent use.
type Client struct {
	o      Options
	origin *url.URL
	http   *http.Client
}

// New makes a client. Nothing is sent yet.
func New(o Options) (*Client, error) {
	origin, err := url.Parse(o.URL)
	if err != nil || origin.Host == "" || origin.Scheme != "http" && origin.Scheme != "https" {
		return nil, errs.New(errs.InvalidRequest, "the address of the training service is "+errs.Clip(o.URL), "give http://HOST:PORT or https://HOST")
	}
	own := http.Client{}
	if o.HTTP != nil {
		own = *o.HTTP
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if o.Wait == nil {
		o.Wait = wait
	}
	return &Client{o, origin, &own}, nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// The bounds of what is believed of a server, and how often it is asked again.
const (
	answerBytes  = 512 << 20
	archiveBytes = 4 << 30
	tries        = 8
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second
)

// answer is what a server has said.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// post sends an object and reads one. What passes is tried again: a server gives a number
// that it has seen its old promise.
func (c *Client) post(ctx context.Context, path string, send, into any) error {
	b, err := json.Marshal(send)
	if err != nil {
		return errs.Wrap(errs.Internal, err, "the request has no form", "")
	}
	a, err := c.insist(ctx, func() (*answer, error) {
		return c.ask(ctx, http.MethodPost, path, "application/json", bytes.NewReader(b))
	})
	if err != nil {
		return err
	}
	return a.read(path, into)
}

func (a *answer) read(path string, into any) error {
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(a.body, into); err != nil {
		return errs.Wrap(errs.UpstreamFailed, err, "the training service answers "+path+" with something else than the protocol says", "look at its version")
	}
	return nil
}

// insist tries until there is an answer that asking again does not change.
func (c *Client) insist(ctx context.Context, try func() (*answer, error)) (a *answer, err error) {
	pause := firstPause
	for n := 1; ; n++ {
		a, err = try()
		if err == nil && a.status/100 == 2 {
			return a, nil
		}
		if err == nil {
			err = a.refused()
		}
		if n == tries || ctx.Err() != nil || !passing(err) {
			return nil, err
		}
		if e := c.o.Wait(ctx, max(pause, errs.As(err).RetryAfter)); e != nil {
			return nil, e
		}
		pause = min(2*pause, longestPause)
	}
}

// passing tells whether a failure may be over in a moment.
func passing(err error) bool {
	switch errs.CodeOf(err) {
	case errs.UpstreamUnavailable, errs.Overloaded, errs.RateLimited, errs.ModelLoading:
		return true
	}
	return false
}

// ask sends one request.
func (c *Client) ask(ctx context.Context, method, path, kind string, body io.Reader) (*answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.o.URL, "/")+"/api/v1/"+path, body)
	if err != nil {
		return nil, errs.Wrap(errs.Internal, err, "the request cannot be made", "")
	}
	r.Header.Set("Accept", "application/json")
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	if c.o.Key != "" {
		r.Header.Set("X-API-Key", c.o.Key)
	}
	return c.do(ctx, r, answerBytes)
}

func (c *Client) do(ctx context.Context, r *http.Request, most int64) (*answer, error) {
	resp, err := c.http.Do(r)
	if err == nil {
		defer resp.Body.Close() // read to its end, or given up
		var b []byte
		if b, err = io.ReadAll(io.LimitReader(resp.Body, most+1)); err == nil {
			if int64(len(b)) > most {
				return nil, errs.Newf(errs.UpstreamFailed, "the training service answered more than %d bytes", most)
			}
			return &answer{resp.StatusCode, resp.Header, b}, nil
		}
	}
	if ctx.Err() != nil {
		return nil, errs.Wrap(errs.Canceled, context.Cause(ctx), "the request to the training service was given up", "")
	}
	var known *errs.Error
	if errors.As(err, &known) {
		return nil, known
	}
	// The error of the connection stays inside: its text has the address.
	return nil, errs.Wrap(errs.UpstreamUnavailable, err, "the training service does not answer", "start it, or correct its address")
}

// refused is the error that an answer tells. A server of this project says its code.
func (a *answer) refused() error {
	var said struct {
		Detail any    `json:"detail"`
		Code   string `json:"code"`
	}
	_ = json.Unmarshal(a.body, &said) // other servers say it in their own way
	text, _ := said.Detail.(string)
	if text == "" {
		text = string(a.body)
	}
	e := errs.New(code(a.status, said.Code), "the training service refuses ("+strconv.Itoa(a.status)+"): "+errs.Clip(text), "")
	if n, err := strconv.ParseFloat(a.header.Get("Retry-After"), 64); err == nil && n > 0 {
		e.RetryAfter = min(time.Duration(n*float64(time.Second)), longestPause)
	}
	return e
}

func code(status int, said string) errs.Code {
	for _, c := range errs.Codes() {
		if string(c) == said {
			return c
		}
	}
	switch {
	case status == http.StatusUnauthorized:
		return errs.Unauthenticated
	case status == http.StatusForbidden:
		return errs.Forbidden
	case status == http.StatusNotFound:
		return errs.NotFound
	case status == http.StatusGone:
		return errs.Gone
	case status == http.StatusRequestEntityTooLarge:
		return errs.TooLarge
	case status == http.StatusTooManyRequests:
		return errs.Overloaded
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusConflict:
		return errs.UpstreamUnavailable
	}
	return errs.InvalidRequest
}
