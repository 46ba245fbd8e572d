package app

import (
	"net/http"
	"strings"
	"testing"

	"macaron/internal/backend/backendtest"
	"macaron/internal/errs"
)

// Every route is behind the one guard.
func TestForeignHostsAndOriginsAreRefused(t *testing.T) {
	s, g := scriptedSite(t)
	foreign := map[string]func(*http.Request){
		"host":         func(r *http.Request) { r.Host = "macaron.example.org" },
		"rebound host": func(r *http.Request) { r.Host = "127.0.0.1.example.org:8080" },
		"origin":       func(r *http.Request) { r.Header.Set("Origin", "http://example.org") },
		"null origin":  func(r *http.Request) { r.Header.Set("Origin", "null") },
		"other port":   func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") },
		"other scheme": func(r *http.Request) { r.Header.Set("Origin", "https://"+r.Host) },
		"cross-site image": func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "no-cors")
		},
		"same-site frame": func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "same-site")
			r.Header.Set("Sec-Fetch-Dest", "iframe")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
		},
	}
	for _, route := range []string{"GET /", "GET /metrics", "GET /healthz", "GET /readyz", "GET /v1/models", "GET /v1/models/macaron", "POST /v1/chat/completions",
		"POST /v1/feedback", "GET /admin/sessions", "GET /admin/adapters", "GET /nothing", "OPTIONS /v1/chat/completions"} {
		method, path, _ := strings.Cut(route, " ")
		for name, change := range foreign {
			r, err := http.NewRequest(method, s.base+path, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			change(r)
			resp, err := s.http.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s with a foreign %s gives %d", route, name, resp.StatusCode)
			}
			for h := range resp.Header {
				if strings.HasPrefix(h, "Access-Control-") {
					t.Errorf("%s sends %s", route, h)
				}
			}
		}
	}
	if len(g.Seen()) != 0 {
		t.Error("the engine was reached")
	}
}

func TestOwnNamesAndPagesAreLetIn(t *testing.T) {
	s, _ := scriptedSite(t)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.base, "http://"), ":")
	for name, change := range map[string]func(*http.Request){
		"localhost":  func(r *http.Request) { r.Host = "localhost:" + port },
		"v6":         func(r *http.Request) { r.Host = "[::1]:" + port },
		"own origin": func(r *http.Request) { r.Header.Set("Origin", s.base); r.Header.Set("Sec-Fetch-Site", "same-origin") },
		"typed in":   func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") },
		"linked from": func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
			r.Header.Set("Sec-Fetch-Dest", "document")
		},
	} {
		r, err := http.NewRequest("GET", s.base+"/healthz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		change(r)
		resp, err := s.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Errorf("%s gives %d", name, resp.StatusCode)
		}
	}
}

// B18: readiness tells of the engine, liveness does not.
func TestReadinessTellsOfTheEngineB18(t *testing.T) {
	s, g := scriptedSite(t)
	if code, body := s.get("/readyz"); code != 200 || !strings.Contains(body, `"ready"`) {
		t.Errorf("%d %s", code, body)
	}
	g.NotReady = errs.New(errs.UpstreamUnavailable, "the engine does not answer", "start it")
	if code, body := s.get("/readyz"); code != 503 || !strings.Contains(body, "the engine does not answer") || !strings.Contains(body, "start it") {
		t.Errorf("%d %s", code, body)
	}
	if code, _ := s.get("/healthz"); code != 200 {
		t.Errorf("healthz gives %d", code)
	}
}

// B14, B15: odd headers are no failure, and paths are no labels.
func TestMetricsDoNotGrowWithPathsB15(t *testing.T) {
	s, _ := scriptedSite(t)
	for _, p := range []string{"/quokka", "/b/quokka", "/v1/quokka", "/v1/models/quokka"} { // a word of no metric's help
		s.get(p)
	}
	resp := s.post(ask(user("L2: x")), func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer é")
		r.Header.Set("X-Request-Id", "bad id\u00e9")
	})
	if resp.StatusCode != 200 || strings.Contains(resp.Header.Get("X-Request-Id"), " ") {
		t.Errorf("%d %q", resp.StatusCode, resp.Header.Get("X-Request-Id"))
	}
	_, body := s.get("/metrics")
	for _, want := range []string{`macaron_http_requests_total{api="page",class="4xx"} 2`, `macaron_turns_total{status="delivered"} 1`, `macaron_routes_total{reason="model"} 1`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(body, "quokka") {
		t.Error("a path is a label")
	}
}

func TestABusyPortSaysWhatToDo(t *testing.T) {
	cfg := settings(t, t.TempDir())
	cfg.Listen = listener(t).Addr().String()
	a, err := New(cfg, Options{Generator: &backendtest.Scripted{}})
	if err != nil {
		t.Fatal(err)
	}
	e := errs.As(a.Run(t.Context()))
	if e == nil || e.Code != errs.AddressInUse || !strings.Contains(e.Next, "PORT=") {
		t.Errorf("got %v", e)
	}
}

func TestASecondProcessOnOneHomeIsRefused(t *testing.T) {
	home := t.TempDir()
	s := start(t, settings(t, home), &backendtest.Scripted{})
	_, err := New(settings(t, home), Options{Generator: &backendtest.Scripted{}})
	if e := errs.As(err); e == nil || e.Code != errs.HomeLocked || e.Next == "" {
		t.Errorf("got %v", err)
	}
	if o := s.object(s.post(ask(user("L2: x")))); at[string](o, "macaron", "adapter") != "L2" {
		t.Error("the first one was disturbed")
	}
}
