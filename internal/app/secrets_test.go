package app

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"macaron/internal/auth"
	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/ids"
	"macaron/internal/obs"
	"macaron/internal/obs/obstest"
	"macaron/internal/record"
)

// safe is a buffer that a log may write to while a test reads it.
type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// canaries are secrets in the places where secrets are or come by; none may come out anywhere.
var canaries = map[string]string{
	"upstream key":             "sk-canary01upstreamkey",
	"upstream error message":   "sk-canary02inmessage",
	"upstream error as Bearer": "canary03inbearer",
	"upstream error header":    "sk-canary04inheader",
	"upstream's echo of a URL": "canary05inurl",
	"wrong bearer":             "sk-canary06wrongbearer",
	"wrong x-api-key":          "sk-canary07wrongplain",
	"query":                    "sk-canary08query",
	"cookie":                   "sk-canary09cookie",
	"proxy authorization":      "canary10proxy",
	"referer":                  "sk-canary11referer",
	"own key of a command":     "mk-canary12owncommandskey",
	"header for traces":        "canary13receiver",
}

// leaky is an upstream that tells its secrets, and ours.
func leaky(t *testing.T, calls *int) *httptest.Server {
	t.Helper()
	var mu sync.Mutex
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		*calls++
		w.Header().Set("X-Upstream-Key", canaries["upstream error header"])
		w.Header().Set("Set-Cookie", "key="+canaries["upstream error header"])
		statuses := []int{400, 401, 403, 404, 422, 429, 500, 503}
		w.WriteHeader(statuses[*calls%len(statuses)])
		fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s; sent %s (Authorization: Bearer %s) to https://user:%s@inside/v1?api_key=%s","type":"invalid_request_error"}}`,
			canaries["upstream error message"], r.Header.Get("Authorization"), canaries["upstream error as Bearer"], canaries["upstream's echo of a URL"], canaries["upstream's echo of a URL"])
	}))
	t.Cleanup(srv.Close)
	return srv
}

func TestPlantedSecretsComeOutNowhere(t *testing.T) {
	home, calls := t.TempDir(), 0
	upstream := leaky(t, &calls)
	keyFile := filepath.Join(t.TempDir(), "upstream.key")
	if err := os.WriteFile(keyFile, []byte(canaries["upstream key"]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MACARON_KEY", canaries["own key of a command"])
	to, headers := obstest.Start(t), filepath.Join(t.TempDir(), "traces.headers")
	if err := os.WriteFile(headers, []byte("x-secret="+canaries["header for traces"]), 0o600); err != nil {
		t.Fatal(err)
	}
	base := settings(t, home)
	cfg, err := config.Load(map[string]string{"home": home, "contract": base.Contract, "listen": "127.0.0.1:0", "upstream.url": upstream.URL + "/v1", "upstream.key_file": keyFile, "log.level": "debug",
		"traces.endpoint": to.URL, "traces.headers_file": headers, "traces.content": "true"})
	if err != nil {
		t.Fatal(err)
	}
	m := &auth.Manager{Store: auth.OpenFile(home), IDs: ids.NewSource(clock.System{}, nil), Now: clock.System{}.Now}
	_, secret, err := m.Create(t.Context(), auth.Key{Tenant: "acme", Scopes: auth.Scopes()})
	if err != nil {
		t.Fatal(err)
	}
	var told safe
	a, err := New(cfg, Options{Log: obs.NewLog(&told, "debug", "json")})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, a)
	shown := tour(s, secret)
	if calls < 40 {
		t.Errorf("the upstream was asked %d times only", calls)
	}
	shown += fmt.Sprintf("%v %+v %#v %v", cfg, cfg, cfg.Upstream, cfg.Show())
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	places := map[string]string{"answers": shown, "log": told.String(), "traces": to.Bytes()}
	if len(to.Spans()) < 60 || to.Headers()[0].Get("x-secret") != canaries["header for traces"] {
		t.Errorf("%d spans came, with the headers %v", len(to.Spans()), to.Headers()[0])
	}
	places["export"] = exported(t, cfg)
	for path, text := range filesIn(t, home) {
		places[path] = text
	}
	all := map[string]string{"a key of ours": secret}
	for what, canary := range canaries {
		all[what] = canary
	}
	for where, text := range places {
		for what, canary := range all {
			if i := strings.Index(text, canary); i >= 0 {
				t.Errorf("%s is in %s: ...%s...", what, where, text[max(0, i-150):min(len(text), i+60)])
			}
		}
	}
	if len(told.String()) < 1000 || !strings.Contains(told.String(), "[redacted]") {
		t.Errorf("the log is %s", told.String())
	}
}

// tour asks for everything, with canaries in every corner of the requests, and gives all that was
// answered.
func tour(s *site, secret string) string {
	good := with("Bearer", secret)
	noise := func(r *http.Request) {
		r.URL.RawQuery = "api_key=" + canaries["query"]
		r.AddCookie(&http.Cookie{Name: "key", Value: canaries["cookie"]})
		r.Header.Set("Proxy-Authorization", "Basic "+canaries["proxy authorization"])
		r.Header.Set("Referer", "https://example.org/?token="+canaries["referer"])
		r.Header.Set("X-Request-Id", canaries["referer"]+" no id")
	}
	var shown strings.Builder
	take := func(resp *http.Response, body string) {
		_ = resp.Header.Write(&shown)
		shown.WriteString(body)
	}
	for _, e := range s.entries {
		method, path, _ := strings.Cut(e.pattern, " ")
		for _, change := range []func(*http.Request){good, with("Bearer", canaries["wrong bearer"]), with("x-api-key", canaries["wrong x-api-key"]), with("query", secret), with("cookie", secret)} {
			take(s.send(method, filled(path, "x"), `{"nonsense":true}`, noise, change))
		}
	}
	ask := func(path, body string) {
		for range 16 { // each status of the upstream comes at a route hop and at an answer
			take(s.send("POST", path, body, noise, good))
		}
	}
	ask("/v1/chat/completions", `{"model":"macaron","messages":[{"role":"user","content":"hello"}]}`)
	ask("/v1/chat/completions", `{"model":"macaron/L2","stream":true,"messages":[{"role":"user","content":"hello"}]}`)
	ask("/v1/messages", `{"model":"macaron/L2","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}`)
	ask("/v1/responses", `{"model":"macaron/L2","input":"hello"}`)
	resp, list := s.send("GET", "/admin/sessions", "", good)
	take(resp, list)
	turns := regexp.MustCompile(`trn_[0-9A-Z]+`).FindAllString(shown.String(), -1)
	if len(turns) == 0 {
		s.t.Error("no turn can be explained: " + list)
	}
	for _, id := range turns[max(0, len(turns)-20):] {
		take(s.send("GET", "/admin/route/"+id, "", good))
	}
	take(s.send("GET", "/metrics", "", good))
	take(s.send("GET", "/readyz", ""))
	return shown.String()
}

// exported is every record of the log, as an export has it.
func exported(t *testing.T, cfg config.Config) string {
	t.Helper()
	store, err := OpenStore(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	list, err := store.Stale(t.Context(), "acme", time.Time{}, "", 1000)
	var out strings.Builder
	for _, session := range list {
		records, err := store.Records(t.Context(), "acme", session, 0, 10000)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			body, err := record.EncodeBody(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(body)
		}
	}
	if err != nil || out.Len() < 10000 {
		t.Errorf("the export has %d bytes, %v", out.Len(), err)
	}
	return out.String()
}

func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		b, err := io.ReadAll(f)
		out[path] = string(b)
		return err
	})
	if err != nil || len(out) < 3 {
		t.Fatalf("%d files, %v", len(out), err)
	}
	return out
}
