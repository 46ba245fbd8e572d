package app

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"macaron/internal/backend/backendtest"
	"macaron/internal/limits"
)

func TestHeadersAreBounded(t *testing.T) {
	s, _ := scriptedSite(t)
	resp, _ := s.send("GET", "/healthz", "", func(r *http.Request) {
		for range limits.HeaderCount {
			r.Header.Add("X-Many", "1")
		}
	})
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("many: %d", resp.StatusCode)
	}
	r, err := http.NewRequest("GET", s.base+"/healthz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Large", strings.Repeat("x", 80<<10))
	if resp, err := s.http.Do(r); err == nil { // else the connection was closed while it was sent
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("large: %d", resp.StatusCode)
		}
	}
}

func TestAllowedOriginsMayCall(t *testing.T) {
	cfg := settings(t, t.TempDir())
	cfg.Door.Origins = []string{"https://app.example.org"}
	cfg.Door.Hosts = []string{"macaron.example.org"}
	s := start(t, cfg, &backendtest.Scripted{})
	from := func(origin string) func(*http.Request) {
		return func(r *http.Request) {
			r.Host = "macaron.example.org"
			r.Header.Set("Origin", origin)
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "cors")
		}
	}
	preflight := func(r *http.Request) {
		r.Header.Set("Access-Control-Request-Method", "POST")
		r.Header.Set("Access-Control-Request-Headers", "authorization,content-type")
	}
	good := from("https://app.example.org")
	resp, _ := s.send("OPTIONS", "/v1/chat/completions", "", good, preflight)
	if h := resp.Header; resp.StatusCode != http.StatusNoContent || h.Get("Access-Control-Allow-Origin") != "https://app.example.org" || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Authorization") ||
		h.Get("Access-Control-Allow-Credentials") != "" || !slices.Contains(h.Values("Vary"), "Origin") {
		t.Errorf("%d %v", resp.StatusCode, h)
	}
	resp, _ = s.send("GET", "/v1/models", "", good)
	if resp.StatusCode != 200 || resp.Header.Get("Access-Control-Allow-Origin") != "https://app.example.org" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
	for _, origin := range []string{"https://app.example.org.evil.example", "http://app.example.org", "https://APP.example.org", "https://app.example.org:8443", "null", "https://other.example.org"} {
		for _, change := range [][]func(*http.Request){{from(origin)}, {from(origin), preflight}} {
			resp, _ := s.send("OPTIONS", "/v1/models", "", change...)
			if resp.StatusCode != http.StatusForbidden || resp.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s: %d %v", origin, resp.StatusCode, resp.Header)
			}
		}
	}
	if resp, _ := s.send("GET", "/healthz", "", func(r *http.Request) { r.Host = "other.example.org" }); resp.StatusCode != http.StatusForbidden {
		t.Errorf("another host: %d", resp.StatusCode)
	}
}
