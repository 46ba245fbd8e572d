package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"macaron/internal/backend"
	"macaron/internal/errs"
	"macaron/internal/obs"
)

// Before the first byte of an answer a request may be sent again, a bounded number
// of times and after a bounded wait.
const (
	backoff  = 100 * time.Millisecond
	longWait = 2 * time.Second // a longer Retry-After is the client's to wait
	maxError = 64 << 10        // of an error body

	overloaded = 529 // of the Messages API
)

// send posts a body until the server starts to answer with success.
func (b *Backend) send(ctx context.Context, url, model string, body []byte) (*http.Response, error) {
	for try := 1; ; try++ {
		resp, err := b.post(ctx, url, model, body)
		if err == nil {
			return resp, nil
		}
		wait, again := retry(err, try, b.Tries)
		if !again || ctx.Err() != nil {
			return nil, err
		}
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, b.unreachable(ctx, err)
		}
	}
}

// retry says whether and when a failure is worth another try.
func retry(err error, try, tries int) (time.Duration, bool) {
	e := errs.As(err)
	if try >= tries || e.RetryAfter > longWait {
		return 0, false
	}
	switch e.Code {
	case errs.UpstreamUnavailable, errs.Overloaded:
		return max(e.RetryAfter, backoff*time.Duration(1<<(try-1))), true
	}
	return 0, false
}

func (b *Backend) post(ctx context.Context, url, model string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, errs.Wrap(errs.InvalidRequest, err, "the upstream URL is not usable", "correct upstream.url")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	b.authorize(req)
	b.sign(ctx, req)
	resp, err := b.Client.Do(req)
	if err != nil {
		return nil, b.unreachable(ctx, err)
	}
	self := b.Instance != "" && resp.Header.Get(backend.InstanceHeader) == b.Instance
	if resp.StatusCode == http.StatusOK && !self {
		return resp, nil
	}
	defer resp.Body.Close()
	if self {
		return nil, b.itself()
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxError))
	if err != nil {
		text = nil // the status says enough
	}
	return nil, b.refused(resp.StatusCode, resp.Header, text, model)
}

// sign says through which servers the request came, and what whoever watches adds.
func (b *Backend) sign(ctx context.Context, req *http.Request) {
	if b.Instance != "" {
		req.Header.Set(backend.ViaHeader, backend.Via(ctx, b.Instance))
	}
	if b.Mark != nil {
		b.Mark(ctx, req.Header)
	}
}

// refused turns the server's status into an error of ours. Its 401 and 404 are
// about our configuration, never about the client.
func (b *Backend) refused(status int, h http.Header, body []byte, model string) error {
	said := b.said(body)
	cause := &refusal{status, said}
	if said == "" {
		said = fmt.Sprintf("status %d", status)
	}
	fail := func(code errs.Code, message, next string) error {
		e := &errs.Error{Code: code, Message: message, Next: next, Err: cause, RetryAfter: retryAfter(h)}
		return e
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fail(errs.UpstreamFailed, "the engine at "+b.host+" refuses this server's key", "the operator sets it in upstream.key_file")
	case tooLong(status, said):
		return fail(errs.ContextExceeded, "the conversation is longer than the engine's context: "+said, "shorten it or start a new one")
	case status == http.StatusNotFound && !ofModel(said, model):
		return fail(errs.UpstreamFailed, fmt.Sprintf("the engine at %s has nothing at %s: %s", b.host, b.URL, said), "the operator sets upstream.url to the address up to and including /v1, or whatever stands there in its place")
	case status == http.StatusNotFound:
		return fail(errs.UpstreamFailed, fmt.Sprintf("the engine at %s does not serve the model %q", b.host, model), "the operator sets the names in upstream.models")
	case status == http.StatusTooManyRequests || status == overloaded:
		return fail(errs.Overloaded, "the engine takes no more requests now", "try again later")
	case status == http.StatusServiceUnavailable || status == http.StatusBadGateway || status == http.StatusGatewayTimeout:
		return fail(errs.UpstreamUnavailable, "the engine at "+b.host+" is not available", "try again later")
	case status == http.StatusBadRequest || status == http.StatusUnprocessableEntity || status == http.StatusRequestEntityTooLarge:
		return fail(errs.InvalidRequest, "the engine refuses the request: "+said, "")
	case status >= 300 && status < 400:
		return fail(errs.UpstreamFailed, "the engine at "+b.host+" redirects, which is not followed", "the operator sets upstream.url to the final address")
	}
	return fail(errs.UpstreamFailed, fmt.Sprintf("the engine failed with status %d", status), "try again later")
}

// refusal is a status other than 200, or an error in the body of a 200.
type refusal struct {
	status int
	said   string
}

func (r *refusal) Error() string { return fmt.Sprintf("status %d: %s", r.status, r.said) }

// Lasting reports whether the settings are at fault: the key, the model's name, the address.
func (r *refusal) Lasting() bool {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return true
	}
	return r.status >= 300 && r.status < 400
}

// ofModel tells a 404 about a model, which servers name or call one, from a 404 about an
// address, which says no more than that.
func ofModel(said, model string) bool {
	return strings.Contains(strings.ToLower(said), "model") || model != "" && strings.Contains(said, model)
}

// tooLong recognises what servers say of a prompt that does not fit.
func tooLong(status int, said string) bool {
	if status != http.StatusBadRequest && status != http.StatusRequestEntityTooLarge {
		return false
	}
	said = strings.ToLower(said)
	for _, sign := range []string{"context_length_exceeded", "context length", "context size", "the context holds", "maximum context", "exceed_context", "too many tokens", "prompt is too long"} {
		if strings.Contains(said, sign) {
			return true
		}
	}
	return false
}

func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if n, err := strconv.Atoi(v); err == nil && n >= 0 && n < 86400 {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(time.Until(at).Round(time.Second), 0)
	}
	return 0
}

// said is the message inside an error body, bounded, on one line, without our key and without
// what looks like one.
func (b *Backend) said(body []byte) string {
	text := string(body)
	if e, ok := errorIn(body); ok {
		text = e.text()
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if b.Key != "" {
		text = strings.ReplaceAll(text, b.Key, "[key]")
	}
	text = obs.Redact(text)
	if r := []rune(text); len(r) > 300 {
		text = string(r[:300]) + "..."
	}
	return text
}

// inBody is an error that a server wrote into a body, whatever the status was:
// {"error":{...}}, {"error":"..."} or {"object":"error",...}.
type inBody struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"`
}

func (e inBody) text() string {
	if e.Message == "" {
		return strings.Trim(e.Type+" "+string(e.Code), " ")
	}
	if code := strings.Trim(string(e.Code), `"`); code != "" && code != "null" {
		return e.Message + " (" + code + ")"
	}
	return e.Message
}

// status is the HTTP status that the error stands for, 500 if it does not tell.
func (e inBody) status() int {
	if n, err := strconv.Atoi(strings.Trim(string(e.Code), `"`)); err == nil && n >= 400 && n < 600 {
		return n
	}
	kind := strings.ToLower(e.Type + " " + string(e.Code))
	switch {
	case strings.Contains(kind, "context_length"), strings.Contains(kind, "exceed_context"), strings.Contains(kind, "invalid_request"), strings.Contains(kind, "badrequest"):
		return http.StatusBadRequest
	case strings.Contains(kind, "rate_limit"), strings.Contains(kind, "overloaded"):
		return http.StatusTooManyRequests
	case strings.Contains(kind, "authentication"), strings.Contains(kind, "permission"):
		return http.StatusUnauthorized
	case strings.Contains(kind, "not_found"):
		return http.StatusNotFound
	case strings.Contains(kind, "unavailable"):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

func errorIn(body []byte) (inBody, bool) {
	var outer struct {
		Object string          `json:"object"`
		Error  json.RawMessage `json:"error"`
		inBody
	}
	if json.Unmarshal(body, &outer) != nil {
		return inBody{}, false
	}
	if outer.Object == "error" {
		return outer.inBody, true
	}
	if len(outer.Error) == 0 || string(outer.Error) == "null" {
		return inBody{}, false
	}
	var inner inBody
	if json.Unmarshal(outer.Error, &inner) == nil {
		return inner, true
	}
	return inBody{Message: strings.Trim(string(outer.Error), `"`)}, true
}
