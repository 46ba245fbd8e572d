package app

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"macaron/internal/config"
	"macaron/internal/engine/enginetest"
	"macaron/internal/errs"
	"macaron/internal/models"
	"macaron/internal/obs"
)

// bareSite is a running EngineServer on a tiny model, the same object as main's.
type bareSite struct {
	*EngineServer
	t    *testing.T
	base string
	http *http.Client
	key  string
	stop func() error
}

func serveEngine(t *testing.T, change func(*config.Config, *EngineOptions)) *bareSite {
	t.Helper()
	cfg := config.Config{Listen: "127.0.0.1:0", Engine: config.Engine{Threads: 2, KVBytes: 8 << 20, Batch: 4}}
	o := EngineOptions{Options: Options{Version: "test", Log: obs.Discard(), Model: models.Local{Name: "tiny", Path: enginetest.Model(t, 1)}}}
	for i, name := range []string{"one", "two"} {
		o.Adapters = append(o.Adapters, NamedPath{name, enginetest.Adapter(t, uint64(i+1))})
	}
	if change != nil {
		change(&cfg, &o)
	}
	s, err := NewEngineServer(cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	site := &bareSite{EngineServer: s, t: t, base: "http://" + s.Addr(t.Context()), http: &http.Client{Transport: &http.Transport{MaxConnsPerHost: 0}}, key: cfg.Engine.Key.Reveal()}
	site.stop = sync.OnceValue(func() error {
		cancel()
		defer site.http.CloseIdleConnections()
		return <-done
	})
	t.Cleanup(func() {
		if err := site.stop(); err != nil {
			t.Error(err)
		}
	})
	if err := s.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return site
}

func (s *bareSite) do(ctx context.Context, method, path, body string, change func(*http.Request)) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	if change != nil {
		change(req)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp
}

func (s *bareSite) text(method, path, body string, change func(*http.Request)) (int, string) {
	s.t.Helper()
	resp := s.do(s.t.Context(), method, path, body, change)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

var engineRoutes = []struct{ method, path string }{
	{"POST", "/v1/completions"}, {"POST", "/v1/chat/completions"}, {"POST", "/v1/embeddings"}, {"POST", "/tokenize"}, {"POST", "/detokenize"},
	{"GET", "/v1/models"}, {"GET", "/v1/models/one"}, {"POST", "/v1/load_lora_adapter"}, {"POST", "/v1/unload_lora_adapter"}, {"GET", "/nothing"},
}

// Every route but those of probes asks for the key, in one form only.
func TestEngineKeys(t *testing.T) {
	s := serveEngine(t, func(c *config.Config, _ *EngineOptions) { c.Engine.Key = "secret-1" })
	for _, r := range engineRoutes {
		for _, header := range []string{"", "Bearer wrong", "Bearer secret-", "Bearer secret-11", "secret-1", "Basic secret-1", "bearer"} {
			status, text := s.text(r.method, r.path, "{}", func(q *http.Request) {
				q.Header.Set("Authorization", header)
				q.Header.Set("X-Api-Key", "secret-1")
			})
			if status != http.StatusUnauthorized || strings.Contains(text, "secret-1") {
				t.Errorf("%s %s with %q: %d %s", r.method, r.path, header, status, text)
			}
		}
		if status, _ := s.text(r.method, r.path, "{}", nil); status == http.StatusUnauthorized {
			t.Errorf("%s %s with the key: %d", r.method, r.path, status)
		}
	}
	if status, _ := s.text("GET", "/v1/models", "", func(q *http.Request) { q.Header.Set("Authorization", "bearer secret-1") }); status != http.StatusOK {
		t.Errorf("a scheme in small letters: %d", status)
	}
	for _, path := range []string{"/health", "/ping", "/version", "/metrics"} {
		if status, _ := s.text("GET", path, "", func(q *http.Request) { q.Header.Del("Authorization") }); status != http.StatusOK {
			t.Errorf("GET %s: %d", path, status)
		}
	}
	status, _ := s.text("GET", "/v1/models", "", func(q *http.Request) { q.Host = "models.example" })
	if status != http.StatusOK {
		t.Errorf("another name of this machine, with the key: %d", status)
	}
	if status, _ := s.text("GET", "/health", "", func(q *http.Request) { q.Header.Set("Origin", "http://evil.example") }); status != http.StatusForbidden {
		t.Errorf("a page of another site: %d", status)
	}
}

// Without a key only this machine is served, under its own names.
func TestEngineStaysOnThisMachine(t *testing.T) {
	cfg := config.Config{Listen: "0.0.0.0:0"}
	if _, err := NewEngineServer(cfg, EngineOptions{}); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("listening everywhere without a key: %v", err)
	}
	s := serveEngine(t, nil)
	if status, _ := s.text("GET", "/v1/models", "", func(q *http.Request) { q.Host = "rebound.example" }); status != http.StatusForbidden {
		t.Errorf("a rebound name: %d", status)
	}
	far := serveEngine(t, func(c *config.Config, _ *EngineOptions) { c.Listen, c.Engine.Key = "0.0.0.0:0", "k" })
	if status, text := far.text("POST", "/v1/load_lora_adapter", `{"lora_name":"x","lora_path":"/x"}`, nil); status != http.StatusForbidden {
		t.Errorf("loading an adapter from afar: %d %s", status, text)
	}
}

// A client that leaves frees the engine within a step.
func TestEngineClientsLeave(t *testing.T) {
	s := serveEngine(t, nil)
	for _, r := range []struct {
		body    string
		answers int64
	}{
		{`{"prompt":"a","max_tokens":900,"ignore_eos":true,"stream":true}`, 1},
		{`{"prompt":"a","max_tokens":900,"ignore_eos":true}`, 1},
		{`{"prompt":["a","b","c"],"n":3,"max_tokens":900,"ignore_eos":true}`, 9},
	} {
		// A machine that is busy may see the whole answer before the client could leave: that
		// says nothing, so the client comes again.
		s.until(func() bool {
			before := s.eng.Stats()
			s.comeAndLeave(r.body)
			s.until(func() bool { st := s.eng.Stats(); return st.Running+st.Waiting == 0 })
			written := s.eng.Stats().OutputTokens - before.OutputTokens
			return written > 0 && written < 900*r.answers
		})
	}
}

// comeAndLeave sends a request for a text and leaves once the engine has begun to write.
func (s *bareSite) comeAndLeave(body string) {
	s.t.Helper()
	ctx, leave := context.WithCancel(s.t.Context())
	defer leave()
	req, err := http.NewRequestWithContext(ctx, "POST", s.base+"/v1/completions", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	before := s.eng.Stats().OutputTokens
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		if resp, err := s.http.Do(req); err == nil {
			_, _ = bufio.NewReader(resp.Body).ReadString('\n')
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}()
	s.until(func() bool { return s.eng.Stats().OutputTokens > before })
	leave()
	<-answered
}

func (s *bareSite) until(ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatal("it did not come to pass within a minute")
		}
	}
}

// More requests than there are places are refused, told when to come again, and harm none
// of those that were taken.
func TestEngineOverload(t *testing.T) {
	s := serveEngine(t, func(c *config.Config, o *EngineOptions) { c.Engine.Batch, o.MaxQueue = 1, 2 })
	body := `{"prompt":"a","max_tokens":200,"ignore_eos":true,"temperature":0}`
	_, alone := s.text("POST", "/v1/completions", body, nil)
	var mu sync.Mutex
	counts := map[int]int{}
	// The requests of a round may come so late, one after another, that each finds a place: then
	// there is another round.
	s.until(func() bool {
		clear(counts)
		var wg sync.WaitGroup
		for range 24 {
			wg.Go(func() {
				resp := s.do(t.Context(), "POST", "/v1/completions", body, nil)
				defer resp.Body.Close()
				b, _ := io.ReadAll(resp.Body)
				mu.Lock()
				defer mu.Unlock()
				counts[resp.StatusCode]++
				switch {
				case resp.StatusCode == http.StatusTooManyRequests && resp.Header.Get("Retry-After") == "":
					t.Error("no Retry-After")
				case resp.StatusCode == http.StatusOK && choices(t, string(b)) != choices(t, alone):
					t.Errorf("another answer in company: %s", b)
				}
			})
		}
		wg.Wait()
		if counts[200] == 0 || counts[200]+counts[429] != 24 {
			t.Fatalf("%v", counts)
		}
		return counts[429] > 0
	})
}

func choices(t *testing.T, body string) string {
	var a struct{ Choices json.RawMessage }
	if err := json.Unmarshal([]byte(body), &a); err != nil {
		t.Errorf("%v: %s", err, body)
	}
	return string(a.Choices)
}

// Requests with several adapters at once get what each gets alone.
func TestEngineIsolation(t *testing.T) {
	s := serveEngine(t, func(c *config.Config, _ *EngineOptions) { c.Engine.KVBytes = 1 << 20 })
	var bodies []string
	for i := range 40 {
		model := []string{"tiny", "one", "two"}[i%3]
		bodies = append(bodies, fmt.Sprintf(`{"model":%q,"prompt":"%s","max_tokens":10,"seed":%d,"logprobs":1,"ignore_eos":true}`, model, strings.Repeat("ab", 20*(i%4)+1), i))
	}
	together := make([]string, len(bodies))
	var wg sync.WaitGroup
	for i, b := range bodies {
		wg.Go(func() { _, together[i] = s.text("POST", "/v1/completions", b, nil) })
	}
	wg.Wait()
	for i, b := range bodies {
		if _, alone := s.text("POST", "/v1/completions", b, nil); choices(t, alone) != choices(t, together[i]) {
			t.Errorf("%s: %s alone, %s together", b, alone, together[i])
		}
	}
}

// A stop lets open answers finish, refuses new ones and says so to probes.
func TestEngineDrains(t *testing.T) {
	s := serveEngine(t, nil)
	resp := s.do(t.Context(), "POST", "/v1/completions", `{"prompt":"a","max_tokens":300,"ignore_eos":true,"stream":true}`, nil)
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	rest, err := io.ReadAll(lines)
	if err != nil || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") || strings.Count(string(rest), `"finish_reason":"length"`) != 1 {
		t.Errorf("%v, the answer was cut: %.200q", err, rest)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// An answer has a deadline.
func TestEngineDeadline(t *testing.T) {
	s := serveEngine(t, func(_ *config.Config, o *EngineOptions) { o.Deadline = time.Nanosecond })
	if status, text := s.text("POST", "/v1/completions", `{"prompt":"a","max_tokens":900}`, nil); status != http.StatusGatewayTimeout {
		t.Errorf("%d %s", status, text)
	}
}

// What cannot be loaded ends the server with the reason.
func TestEngineAdapterThatIsNone(t *testing.T) {
	s, err := NewEngineServer(config.Config{Listen: "127.0.0.1:0"}, EngineOptions{
		Options: Options{Log: obs.Discard(), Model: models.Local{Name: "tiny", Path: enginetest.Model(t, 1)}}, Adapters: []NamedPath{{"x", filepath.Join(t.TempDir(), "none")}}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context(), l); errs.CodeOf(err) != errs.NotFound {
		t.Error(err)
	}
}

// The metrics tell what was served, as native histograms to those who ask for them.
func TestEngineMetrics(t *testing.T) {
	s := serveEngine(t, nil)
	s.text("POST", "/v1/completions", `{"prompt":"`+strings.Repeat("a", 100)+`","n":2,"max_tokens":5,"ignore_eos":true}`, nil)
	s.text("POST", "/v1/completions", `{"prompt":""}`, nil)
	s.until(func() bool { return s.eng.Stats().Running == 0 }) // an answer is there before its place is free
	_, text := s.text("GET", "/metrics", "", nil)
	for _, want := range []string{
		"macaron_engine_generation_tokens_total 10\n", "macaron_engine_request_generation_tokens_count 2\n", "macaron_engine_time_to_first_token_seconds_count 2\n",
		"macaron_engine_inter_token_latency_seconds_count 8\n", "macaron_engine_num_requests_running 0\n", "macaron_engine_lora_loaded 2\n",
		"macaron_engine_prefix_cache_hits_total 99\n", `macaron_engine_errors_total{code="invalid_request"} 1`, `macaron_engine_http_requests_total{api="completions",class="2xx"} 1`,
		"macaron_engine_e2e_request_latency_seconds_bucket{le=\"+Inf\"} 2\n", "macaron_engine_request_queue_time_seconds_sum", `macaron_build_info{version="test"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics lack %q\n%s", want, text)
		}
	}
	resp := s.do(t.Context(), "GET", "/metrics", "", func(q *http.Request) {
		q.Header.Set("Accept", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")
	})
	defer resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); !strings.Contains(kind, "io.prometheus.client.MetricFamily") {
		t.Errorf("native histograms come as %q", kind)
	}
}
