package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/tool"
)

// HTTP is a tool that a contract declares: one request of a fixed form. Arguments that the
// address names as {{name}} go there; of the others GET, HEAD and DELETE make the query, the
// other methods a JSON object for a body. {{secret:NAME}} in a header stands for a value that
// is looked up when the request is made and that neither code nor model sees.
type HTTP struct {
	Def    tool.Def
	Method string
	URL    string
	Header map[string]string
	Web    Web
	Secret func(ctx context.Context, name string) (string, error)
}

// httpTool is an HTTP whose templates are parsed.
type httpTool struct {
	HTTP
	address template
	header  map[string]template
}

var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// Tool checks the declaration and returns the tool.
func (h HTTP) Tool() (tool.Tool, error) {
	if !slices.Contains(methods, h.Method) {
		return nil, bad("the method "+errs.Clip(h.Method)+" is not one of "+strings.Join(methods, ", "), "correct the tool "+h.Def.Name)
	}
	t := httpTool{HTTP: h, header: map[string]template{}}
	var err error
	if t.address, err = parseTemplate(h.URL); err != nil {
		return nil, err
	}
	if !t.address.fixedHost() || t.address.has(true) {
		return nil, bad("the address of "+h.Def.Name+" does not begin with a fixed scheme and host, such as https://api.example.org/, or has a secret", "arguments stand behind the host, secrets in headers")
	}
	u, err := url.Parse(t.address.expand(func(part) string { return "x" }))
	if err != nil {
		return nil, bad("the address of "+h.Def.Name+" is no URL", "")
	}
	if err := h.Web.allow(u); err != nil {
		return nil, err
	}
	for k, v := range h.Header {
		x, err := parseTemplate(v)
		if err != nil {
			return nil, err
		}
		if x.has(false) {
			return nil, bad("the header "+errs.Clip(k)+" of "+h.Def.Name+" takes an argument", "headers take {{secret:NAME}} only")
		}
		t.header[k] = x
	}
	return t, nil
}

// Def gives the tool's definition.
func (t httpTool) Def() tool.Def { return t.HTTP.Def }

// Invoke sends the request. The value is the server's JSON, or {"text": ...}.
func (t httpTool) Invoke(ctx context.Context, c tool.Call) (tool.Result, error) {
	args := map[string]any{}
	dec := json.NewDecoder(bytes.NewReader(c.Arguments))
	dec.UseNumber()
	if err := dec.Decode(&args); err != nil {
		return tool.Result{}, bad("the arguments are no JSON object", "")
	}
	secrets, values, err := t.secrets(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	r, err := t.request(args)
	if err != nil {
		return tool.Result{}, err
	}
	header := http.Header{}
	for k, v := range t.header {
		header.Set(k, v.expand(func(p part) string { return values[p.name] }))
	}
	a, err := t.Web.exchange(ctx, r, header, secrets)
	if err != nil {
		return tool.Result{}, err
	}
	return t.result(a)
}

// secrets looks up the values that the templates name; nil if they name none.
func (t httpTool) secrets(ctx context.Context) (*tool.Taint, map[string]string, error) {
	values := map[string]string{}
	var taint *tool.Taint
	for _, p := range slices.Concat(slices.Collect(maps.Values(t.header))...) {
		if !p.secret || values[p.name] != "" {
			continue
		}
		if t.Secret == nil {
			return nil, nil, errs.New(errs.NotFound, "there is no secret "+p.name, "the operator sets it")
		}
		v, err := t.Secret(ctx, p.name)
		if err != nil {
			return nil, nil, err
		}
		if taint == nil {
			taint = &tool.Taint{}
		}
		if values[p.name] = v; !taint.Add(v) {
			return nil, nil, errs.New(errs.InvalidRequest, "the secret "+p.name+" is too short to be kept out of answers", "use one of at least 4 characters")
		}
	}
	return taint, values, nil
}

// request fills the address and makes the body of what is left.
func (t httpTool) request(args map[string]any) (request, error) {
	address, err := t.address.url(args)
	if err != nil {
		return request{}, err
	}
	r := request{URL: address, Method: t.Method}
	rest := map[string]any{}
	for k, v := range args {
		if !t.address.takes(k) {
			rest[k] = v
		}
	}
	if t.Method == http.MethodPost || t.Method == http.MethodPut || t.Method == http.MethodPatch {
		r.Body, err = encode(rest)
		return r, err
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return request{}, bad("the arguments do not make a URL", "")
	}
	q := u.Query()
	for k, v := range rest {
		q.Set(k, plain(v))
	}
	if len(rest) > 0 {
		u.RawQuery = q.Encode()
	}
	r.URL = u.String()
	return r, nil
}

// failures are the codes of statuses from 400 on; others are a failure of the server.
var failures = map[int]errs.Code{
	http.StatusUnauthorized: errs.Forbidden, http.StatusForbidden: errs.Forbidden, http.StatusNotFound: errs.NotFound,
	http.StatusGone: errs.NotFound, http.StatusTooManyRequests: errs.RateLimited,
}

// result makes a status from 400 on an error.
func (t httpTool) result(a Answer) (tool.Result, error) {
	if a.Status >= 400 {
		code := failures[a.Status]
		if code == "" && a.Status < 500 {
			code = errs.InvalidRequest
		} else if code == "" {
			code = errs.UpstreamFailed
		}
		return tool.Result{Error: &tool.Error{Code: code, Message: fmt.Sprintf("the server answered with status %d", a.Status),
			Said: tool.Bounded(string(a.JSON)+a.Text, 2000), Retryable: a.Status == http.StatusTooManyRequests}}, nil
	}
	if a.Truncated {
		return tool.Result{}, errs.Newf(errs.UpstreamFailed, "the answer has more than %d bytes", maxBody)
	}
	if a.JSON != nil {
		return tool.Result{Value: a.JSON}, nil
	}
	value, err := encode(map[string]any{"status": a.Status, "text": a.Text})
	return tool.Result{Value: value}, err
}
