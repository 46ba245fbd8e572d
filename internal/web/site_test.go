package web_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/config"
	"macaron/internal/obs"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/store/sqlite"
)

// site is a running App, the same object as main's, on a real port.
type site struct {
	url    string
	store  *sqlite.Store // of the same log, to see what is in it
	script *script
	close  func()
}

// settings gives a configuration in a home of its own. The contract is the
// repository's, with its adapters taken to be model names: no weights are read.
func settings(t *testing.T, home string) config.Config {
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

func start(t *testing.T, home string, g *script) *site {
	t.Helper()
	return serveWith(t, home, g, app.Options{})
}

// serveWith is start with options of its own.
func serveWith(t *testing.T, home string, g *script, opts app.Options) *site {
	t.Helper()
	opts.Generator = g
	s := serve(t, settings(t, home), opts)
	s.script = g
	return s
}

// serve runs an App until the end of the test or close.
func serve(t *testing.T, cfg config.Config, opts app.Options) *site {
	t.Helper()
	if opts.Log == nil {
		opts.Log = obs.Discard()
	}
	a, err := app.New(cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	s := &site{url: "http://" + a.Addr(t.Context())}
	if s.store, err = sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(cfg.Home, "log.db")}); err != nil {
		t.Fatal(err)
	}
	s.close = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := s.store.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.close)
	return s
}

// turn gives the i-th turn of a session, as the log has it, once it is not open any more.
func (s *site) turn(t *testing.T, id string, i int) session.Turn {
	t.Helper()
	log := session.New(s.store, session.Options{})
	var found session.Turn
	eventually(t, func() bool {
		_, turns, err := log.Load(t.Context(), auth.Local, id)
		if err != nil {
			t.Fatal(err)
		}
		if i < len(turns) {
			found = turns[i]
		}
		return i < len(turns) && found.Status != record.StatusOpen
	})
	return found
}

// feedback checks the judgements that the log has of a session.
func (s *site) feedback(t *testing.T, id string, want []record.Feedback) {
	t.Helper()
	var got []record.Feedback
	eventually(t, func() bool {
		all, err := s.store.Records(t.Context(), auth.Local, id, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		for _, r := range all {
			if f, ok := r.Body.(record.Feedback); ok {
				got = append(got, f)
			}
		}
		return len(got) >= len(want)
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// eventually waits for what the server does after the page has shown it.
func eventually(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if done() {
			return
		}
	}
	t.Fatal("it does not come to pass")
}

// complete asks without the page and gives the answer.
func (s *site) complete(t *testing.T, text string) string {
	t.Helper()
	body := `{"model":"macaron","messages":[{"role":"user","content":` + quote(text) + `}]}`
	status, answer := s.post(t, "/v1/chat/completions", body)
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	return answer
}

func (s *site) post(t *testing.T, path, body string) (int, string) {
	t.Helper()
	r, err := http.Post(s.url+path, "application/json", strings.NewReader(body))
	return read(t, r, err)
}

func (s *site) get(t *testing.T, path string) (int, string) {
	t.Helper()
	r, err := http.Get(s.url + path)
	return read(t, r, err)
}

func read(t *testing.T, r *http.Response, err error) (int, string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}
