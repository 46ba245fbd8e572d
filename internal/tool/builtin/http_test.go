package builtin

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"macaron/internal/errs"
	"macaron/internal/tool"
)

var loopback = Network{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}

// server is a local one, and the entry that lets tools call it.
func server(t testing.TB, h http.HandlerFunc) (string, Hosts) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL, Hosts{s.URL}
}

func TestHosts(t *testing.T) {
	hs := Hosts{"api.example.org", "*.example.net", "db.example.org:8443", "http://10.1.2.3:8000", "HTTP://Plain.example.org"}
	if err := hs.Check(); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"https://api.example.org/x": true, "https://API.example.org./x": true, "https://api.example.org:443/": true, "http://api.example.org/": false,
		"https://api.example.org:8443/": false, "https://xapi.example.org/": false, "https://api.example.org.evil.com/": false,
		"https://a.example.net/": true, "https://a.b.example.net/": true, "https://example.net/": false, "https://evilexample.net/": false,
		"https://db.example.org:8443/": true, "https://db.example.org/": false, "http://10.1.2.3:8000/": true, "https://10.1.2.3:8000/": false,
		"http://plain.example.org/": true, "https://api.example.org@evil.com/": false, "https://user@api.example.org/": false,
		"ftp://api.example.org/": false, "file:///etc/hosts": false, "https:api.example.org": false, "//api.example.org/": false,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := hs.Allow(u) == nil; got != want {
			t.Errorf("%s: allowed %v", address, got)
		}
	}
	for _, entry := range []string{"", "a/b", "user@x", "*", "*.*.x", "a b", "https://", "x?y"} {
		if (Hosts{entry}).Check() == nil {
			t.Errorf("%q was taken for a host", entry)
		}
	}
}

// TestPrivateAddressesAreRefusedAfterResolution: whatever name leads there.
func TestPrivateAddressesAreRefusedAfterResolution(t *testing.T) {
	var hits atomic.Int32
	address, _ := server(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	_, port, err := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"127.0.0.1", "[::ffff:127.0.0.1]", "localhost", "rebind.example.org", "[::1]", "0.0.0.0"} {
		w := Web{Hosts: Hosts{"http://" + name + ":" + port}, Network: Network{Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("127.0.0.1")}, nil
		}}}
		got, err := invoke(t, w.Tools()["http.get"], m{"url": "http://" + name + ":" + port + "/"})
		if errs.CodeOf(err) != errs.Forbidden || hits.Load() != 0 {
			t.Errorf("%s: %s %v, %d requests came", name, got, err, hits.Load())
		}
	}
}

func TestGetAndSend(t *testing.T) {
	address, hosts := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/json":
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			fmt.Fprint(w, `{"a":[1]}`)
		case "/big":
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			io.Copy(z, io.LimitReader(zeros{}, 64<<20))
			z.Close()
		case "/echo":
			b, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s %s", r.Method, r.Header.Get("Content-Type"), b)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/away":
			http.Redirect(w, r, "http://127.0.0.2:1/", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}
	})
	tools := Web{Network: loopback, Hosts: hosts}.Tools()
	for _, c := range []struct {
		tool string
		args m
		want string
		code errs.Code
	}{
		{"http.get", m{"url": address + "/json"}, `{"status":200,"type":"application/json","json":{"a":[1]},"bytes":9}`, ""},
		{"http.send", m{"url": address + "/echo", "method": "POST", "body": m{"x": 1}}, `{"status":200,"type":"text/plain","text":"POST application/json {\"x\":1}","bytes":29}`, ""},
		{"http.send", m{"url": address + "/echo", "method": "GET"}, "", errs.InvalidRequest},
		{"http.get", m{"url": address + "/loop"}, "", errs.UpstreamFailed},
		{"http.get", m{"url": address + "/away"}, "", errs.Forbidden},
		{"http.get", m{"url": address + "/file"}, "", errs.Forbidden},
		{"http.get", m{"url": "https://example.org/"}, "", errs.Forbidden},
	} {
		got, err := invoke(t, tools[c.tool], c.args)
		if errs.CodeOf(err) != c.code || got != c.want {
			t.Errorf("%v: %s %v", c.args, got, err)
		}
	}
	got, err := invoke(t, tools["http.get"], m{"url": address + "/big"})
	if err != nil || !strings.Contains(got, `"truncated":true,"bytes":1048576`) {
		t.Errorf("%.80s %v", got, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// api answers as a service that repeats what it was sent.
func api(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	body, _ := io.ReadAll(r.Body)
	switch r.URL.Query().Get("fail") {
	case "429":
		w.WriteHeader(http.StatusTooManyRequests)
	case "500":
		w.WriteHeader(http.StatusInternalServerError)
	case "redirect":
		http.Redirect(w, r, strings.Replace("http://"+r.Host, "127.0.0.1", "localhost", 1), http.StatusFound)
		return
	}
	json.NewEncoder(w).Encode(m{"path": r.URL.EscapedPath(), "query": r.URL.RawQuery, "auth": r.Header.Get("X-Key"), "body": string(body)})
}

func contractTool(t testing.TB, method, path string, noai ...string) tool.Tool {
	t.Helper()
	address, hosts := server(t, api)
	x, err := HTTP{Def: tool.Def{Name: "f", Effect: tool.Read, NoAI: noai}, Method: method, URL: address + path, Header: map[string]string{"X-Key": "key {{secret:KEY}}"},
		Web: Web{Hosts: append(hosts, strings.Replace(hosts[0], "127.0.0.1", "localhost", 1)), Network: loopback},
		Secret: func(_ context.Context, name string) (string, error) {
			if name != "KEY" {
				return "", errors.New("no")
			}
			return "sk-canary-1", nil
		}}.Tool()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestContractTools(t *testing.T) {
	for _, c := range []struct{ method, path, args, want string }{
		{"GET", "/items/{{id}}?lang=en", `{"id":"a/b ?#","q":"x&y=1"}`, `"path":"/items/a%2Fb%20%3F%23","query":"lang=en\u0026q=x%26y%3D1"`},
		{"GET", "/items?q={{q}}", `{"q":"a&b=c"}`, `"query":"q=a%26b%3Dc"`},
		{"POST", "/items/{{id}}", `{"id":7,"name":"n","tags":["x"]}`, `"body":"{\"name\":\"n\",\"tags\":[\"x\"]}"`},
		{"DELETE", "/items/{{id}}", `{"id":true}`, `"path":"/items/true"`},
	} {
		r, err := contractTool(t, c.method, c.path).Invoke(context.Background(), tool.Call{Arguments: json.RawMessage(c.args)})
		if err != nil || r.Error != nil || !strings.Contains(string(r.Value), c.want) || !strings.Contains(string(r.Value), `"auth":"key [NoAI]"`) {
			t.Errorf("%s %s: %s %+v %v", c.method, c.path, r.Value, r.Error, err)
		}
	}
	for args, code := range map[string]errs.Code{`{"id":".."}`: errs.Forbidden, `{"id":"."}`: errs.Forbidden, `{"id":""}`: errs.InvalidRequest, `{}`: errs.InvalidRequest, `[]`: errs.InvalidRequest} {
		if _, err := contractTool(t, "GET", "/items/{{id}}/x").Invoke(context.Background(), tool.Call{Arguments: json.RawMessage(args)}); errs.CodeOf(err) != code {
			t.Errorf("%s: %v", args, err)
		}
	}
	if _, err := contractTool(t, "GET", "/a/.{{id}}").Invoke(context.Background(), tool.Call{Arguments: json.RawMessage(`{"id":"."}`)}); errs.CodeOf(err) != errs.Forbidden {
		t.Error(err)
	}
}

func TestFailuresOfContractTools(t *testing.T) {
	for fail, want := range map[string]tool.Error{"429": {Code: errs.RateLimited, Retryable: true}, "500": {Code: errs.UpstreamFailed}} {
		for _, noai := range [][]string{nil, {"/path"}} {
			r, err := contractTool(t, "GET", "/x", noai...).Invoke(context.Background(), tool.Call{Arguments: json.RawMessage(`{"fail":"` + fail + `"}`)})
			if err != nil || r.Error == nil || r.Error.Code != want.Code || r.Error.Retryable != want.Retryable || !strings.Contains(r.Error.Said, "query") || strings.Contains(r.Error.Said+r.Error.Message, "canary") {
				t.Errorf("%s: %+v %v", fail, r.Error, err)
			}
		}
	}
	if _, err := contractTool(t, "GET", "/x").Invoke(context.Background(), tool.Call{Arguments: json.RawMessage(`{"fail":"redirect"}`)}); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("a secret follows a redirect: %v", err)
	}
}

func TestWrongDeclarationsAreRefused(t *testing.T) {
	for _, h := range []HTTP{
		{Method: "TRACE", URL: "https://a.example.org/"},
		{Method: "GET", URL: "https://{{host}}/"}, {Method: "GET", URL: "https://a.example.org{{x}}"}, {Method: "GET", URL: "{{x}}"},
		{Method: "GET", URL: "https://b.example.org/"}, {Method: "GET", URL: "http://a.example.org/"},
		{Method: "GET", URL: "https://a.example.org/{{"}, {Method: "GET", URL: "https://a.example.org/", Header: map[string]string{"X": "{{x}}"}},
		{Method: "GET", URL: "https://a.example.org/{{secret:K}}"},
		{Method: "GET", URL: "https://a.example.org@evil.com/{{x}}"},
	} {
		h.Web.Hosts, h.Def = Hosts{"a.example.org"}, tool.Def{Name: "f", Effect: tool.Read}
		if _, err := h.Tool(); err == nil {
			t.Errorf("%s %s was taken", h.Method, h.URL)
		}
	}
}

// TestArgumentsStayInTheirPlace: no argument changes host, path or parameters around it.
func TestArgumentsStayInTheirPlace(t *testing.T) {
	tpl, err := parseTemplate("https://a.example.org/v1/{{a}}/tail?k={{b}}&z=1")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.StringOf(rapid.SampledFrom([]rune(`./?&=#%2e\@:;+ x`))).Draw(t, "b")
		address, err := tpl.url(m{"a": a, "b": b})
		if err != nil {
			return
		}
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		path := strings.Split(u.EscapedPath(), "/")
		if u.Host != "a.example.org" || len(path) != 4 || path[1] != "v1" || path[3] != "tail" || len(u.Query()) != 2 || u.Query().Get("k") != b || u.Query().Get("z") != "1" || u.Fragment != "" {
			t.Fatalf("%q %q make %s", a, b, address)
		}
	})
}

func FuzzTemplate(f *testing.F) {
	f.Add("https://h/{{a}}?x={{secret:K}}", "v")
	f.Fuzz(func(t *testing.T, text, value string) {
		tpl, err := parseTemplate(text)
		if err != nil {
			return
		}
		if got := tpl.expand(func(p part) string {
			if p.secret {
				return "{{secret:" + p.name + "}}"
			}
			return "{{" + p.name + "}}"
		}); got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
