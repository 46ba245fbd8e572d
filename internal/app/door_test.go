package app

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"macaron/internal/backend/backendtest"
	"macaron/internal/limits"
	"macaron/internal/obs"
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

// A body that never comes whole ends the request, at routes that read it by themselves too.
func TestBodiesArriveInTime(t *testing.T) {
	a, err := New(settings(t, t.TempDir()), Options{Log: obs.Discard(), Generator: &backendtest.Scripted{}})
	if err != nil {
		t.Fatal(err)
	}
	a.arrival = 20 * time.Millisecond
	s := serve(t, a)
	for _, path := range []string{"/v1/feedback", "/admin/route", "/v1/nothing"} {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", path)
		answer, err := io.ReadAll(c) // ends when the server closes
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 4") {
			t.Errorf("%s gives %.80q and %v", path, answer, err)
		}
	}
}

// One that has come in time leaves a long answer alone: its deadline passes, and nothing comes of it.
func TestAnAnswerOutlastsTheDeadlineOfItsBody(t *testing.T) {
	late := true
	for arrival := 50 * time.Millisecond; late && arrival < time.Minute; arrival *= 4 { // a busy machine may bring the body too late
		var cut error
		f := &front{arrival: arrival}
		srv := httptest.NewServer(f.inTime(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err != nil {
				return
			}
			late = false
			select {
			case <-time.After(2 * arrival):
			case <-r.Context().Done():
				cut = r.Context().Err()
			}
		})))
		resp, err := srv.Client().Post(srv.URL, "text/plain", strings.NewReader("whole"))
		if err == nil {
			err = resp.Body.Close()
		}
		srv.Close()
		if !late && (err != nil || cut != nil) {
			t.Errorf("the answer was cut: %v, %v", cut, err)
		}
	}
	if late {
		t.Error("no body came in time")
	}
}
