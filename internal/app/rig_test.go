package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"macaron/internal/auth"
	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/config"
	"macaron/internal/obs"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/store/postgres/pgtest"
	"macaron/internal/wire/sse"
)

func TestMain(m *testing.M) {
	last = time.Minute
	goleak.VerifyTestMain(pgtest.Around(m))
}

// site is a running App: the same object as main's, on a real port.
type site struct {
	*App
	t    *testing.T
	base string
	http *http.Client
	stop func() error
}

// settings gives a configuration in a home of its own. The contract is the
// repository's, with its adapters taken to be model names: no weights are read.
func settings(t testing.TB, home string) config.Config {
	t.Helper()
	text, err := os.ReadFile("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "macaron.toml")
	if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(`"adapters/`), []byte(`"model:`)), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(map[string]string{"home": home, "contract": path, "listen": "127.0.0.1:0", "queue.route_timeout": "1m", "drain": "1m"})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func start(t *testing.T, cfg config.Config, g backend.Generator) *site {
	t.Helper()
	a, err := New(cfg, Options{Version: "test", Log: obs.Discard(), Generator: g})
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, a)
}

func serve(t *testing.T, a *App) *site {
	t.Helper()
	return serveBy(t, a, a.Run)
}

// serveBy is serve by another way to run than by the address of the settings.
func serveBy(t *testing.T, a *App, run func(context.Context) error) *site {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	addr := a.Addr(t.Context())
	transport := &http.Transport{}
	s := &site{App: a, t: t, base: "http://" + addr, http: &http.Client{Transport: transport}}
	stopped := false
	s.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		transport.CloseIdleConnections()
		cancel()
		return <-done
	}
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func scriptedSite(t *testing.T) (*site, *backendtest.Scripted) {
	t.Helper()
	g := &backendtest.Scripted{}
	return start(t, settings(t, t.TempDir()), g), g
}

type object = map[string]any

// post sends a chat completion; change may alter the request before it goes.
func (s *site) post(body any, change ...func(*http.Request)) *http.Response {
	s.t.Helper()
	var text []byte
	switch b := body.(type) {
	case string:
		text = []byte(b)
	default:
		var err error
		if text, err = json.Marshal(b); err != nil {
			s.t.Fatal(err)
		}
	}
	r, err := http.NewRequest(http.MethodPost, s.base+"/v1/chat/completions", bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for _, f := range change {
		f(r)
	}
	resp, err := s.http.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func (s *site) get(path string) (int, string) {
	s.t.Helper()
	resp, err := s.http.Get(s.base + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func (s *site) object(resp *http.Response) object {
	s.t.Helper()
	var o object
	b, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	if err != nil {
		s.t.Fatalf("%v in %.200s", err, b)
	}
	return o
}

// chunks reads a stream to its end; the last event is returned apart.
func (s *site) chunks(resp *http.Response) (chunks []object, last string) {
	s.t.Helper()
	r := sse.NewReader(resp.Body, 1<<20)
	for {
		e, err := r.Next()
		if err == io.EOF {
			return chunks, last
		}
		if err != nil {
			s.t.Fatal(err)
		}
		last = string(e.Data)
		var o object
		if json.Unmarshal(e.Data, &o) == nil {
			chunks = append(chunks, o)
		}
	}
}

// said joins the content of a stream's chunks.
func said(chunks []object) string {
	var text strings.Builder
	for _, c := range chunks {
		if choices := at[[]any](c, "choices"); len(choices) > 0 {
			text.WriteString(at[string](choices[0], "delta", "content"))
		}
	}
	return text.String()
}

// at walks into decoded JSON; what is not there is the zero value.
func at[T any](v any, path ...string) T {
	for _, p := range path {
		o, ok := v.(map[string]any)
		if !ok {
			break
		}
		v = o[p]
	}
	out, _ := v.(T)
	return out
}

func user(text string) object { return object{"role": "user", "content": text} }

func ask(messages ...any) object { return object{"model": "macaron", "messages": messages} }

func streamed(o object) object {
	o = maps.Clone(o)
	o["stream"] = true
	return o
}

// turnsOf loads all turns of the newest session.
func (s *site) turnsOf() []session.Turn {
	s.t.Helper()
	all, err := s.sessions.List(context.Background(), auth.Local, time.Time{}, 10)
	if err != nil || len(all) == 0 {
		s.t.Fatalf("%d sessions, %v", len(all), err)
	}
	_, turns, err := s.sessions.Load(context.Background(), auth.Local, all[0].Session)
	if err != nil {
		s.t.Fatal(err)
	}
	return turns
}

// settled waits until no request is served and the last turn has left the status open. A turn
// may come into the log with its end only.
func (s *site) settled() session.Turn {
	s.t.Helper()
	s.active.Wait()
	var last session.Turn
	s.until("the turn ends", func() bool {
		turns := s.turnsOf()
		last = turns[len(turns)-1]
		return last.Status != record.StatusOpen
	})
	return last
}

// until waits for something to come true that stays so. Its limit is for what never does.
func (s *site) until(what string, is func() bool) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatal("never: " + what)
		}
	}
}

func listener(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}
