package pass_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint"
	"macaron/internal/mint/pass"
	"macaron/internal/store/sqlite"
	"macaron/internal/wire/tinker"
)

const key = "tml-operators-own"

// alive is a training service whose sessions live, and that has no models.
type alive struct{}

func (alive) Heartbeat(_ context.Context, _, session string) error {
	if session == "ended" {
		return errs.New(errs.Gone, "it is over", "")
	}
	return nil
}

func (alive) Model(context.Context, string, string) (mint.Model, error) {
	return mint.Model{}, errs.New(errs.NotFound, "there is none", "")
}

// shelf keeps what is published.
type shelf struct {
	mu  sync.Mutex
	all []mint.Revision
}

func (s *shelf) Publish(_ context.Context, _ string, r mint.Revision) (ids.Digest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, r)
	return ids.DigestOf([]byte(r.Path)), nil
}

// front is a pass before a backend that a test scripts.
type front struct {
	*pass.Pass
	http.Handler
	shelf shelf
	log   bytes.Buffer
}

// scripted starts a backend that answers by the path behind /api/v1/, and a pass before it in
// a home that may have been used before.
func scripted(t *testing.T, home string, dialect pass.Dialect, backend http.HandlerFunc) (*front, *httptest.Server) {
	t.Helper()
	server := backed(t, backend)
	return before(t, home, dialect, server.URL, long), server
}

// Longest waits for an outcome: one that a test waits for, and one that none does.
const short, long = 700 * time.Millisecond, time.Minute

func backed(t *testing.T, backend http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != key || r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" {
			t.Errorf("%s came with the key %q", r.URL.Path, r.Header.Get("X-Api-Key"))
		}
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api/v1/")
		backend(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

func before(t *testing.T, home string, dialect pass.Dialect, url string, poll time.Duration) *front {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(home, "log.db")})
	if err != nil {
		t.Fatal(err)
	}
	f := &front{}
	c := clock.System{}
	f.Pass, err = pass.Open(pass.Options{
		Backends: []pass.Backend{{Name: "b", Bases: []string{"far/Base"}, URL: url, Key: key, Dialect: dialect, Timeout: time.Minute}},
		Table:    st.Mint(), Local: alive{}, Wire: tinker.Relay{}, Publisher: &f.shelf, Owner: func(r *http.Request) string { return r.Header.Get("Tenant") },
		Clock: c, IDs: ids.NewSource(c, strings.NewReader(strings.Repeat("x", 1<<16))), Log: slog.New(slog.NewTextHandler(&f.log, nil)), Poll: poll,
	})
	if err != nil {
		t.Fatal(err)
	}
	f.Handler = f.Pass.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
		if strings.Contains(f.log.String(), key) {
			t.Error("the key stands in the log")
		}
	})
	return f
}

// ask sends JSON, or protobuf, as a client does.
func (f *front) ask(t *testing.T, path, body string, accept ...string) (status int, header http.Header, answer []byte) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/api/v1/"+path, strings.NewReader(body)).WithContext(t.Context())
	r.Header.Set("Content-Type", "application/json")
	if !strings.HasPrefix(body, "{") {
		r.Header.Set("Content-Type", "application/x-protobuf")
	}
	r.Header.Set("X-Api-Key", "tml-clients-own")
	r.Header.Set("Cookie", "a=b")
	r.Header.Set("Tenant", "o")
	if len(accept) == 2 {
		r.Header.Set("Tenant", accept[1])
	}
	if len(accept) > 0 {
		r.Header.Set("Accept", accept[0])
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w.Code, w.Header(), w.Body.Bytes()
}

// got is ask for what is answered with 200 and an object.
func (f *front) got(t *testing.T, path, body string, accept ...string) map[string]any {
	t.Helper()
	status, _, b := f.ask(t, path, body, accept...)
	var v map[string]any
	if status != http.StatusOK || json.Unmarshal(b, &v) != nil {
		t.Fatalf("%s %s: %d %s", path, body, status, b)
	}
	return v
}

// model begins a run; its name here is s:train:0, and there far-model.
func (f *front) model(t *testing.T) {
	t.Helper()
	p := f.got(t, "create_model", `{"session_id":"s","model_seq_id":0,"base_model":"far/Base","lora_config":{"rank":4},"new_field":[1,2]}`)
	if v := f.got(t, "retrieve_future", fmt.Sprintf(`{"request_id":%q}`, p["request_id"])); v["model_id"] != "s:train:0" {
		t.Fatalf("the model is %v", v)
	}
}

// script is a backend that does what every backend does; more does the rest.
func script(more http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(b))
		switch {
		case r.URL.Path == "create_session":
			reply(w, 200, `{"session_id":"far-session"}`)
		case r.URL.Path == "create_model":
			reply(w, 200, `{"request_id":"far-create"}`)
		case r.URL.Path == "retrieve_future" && bytes.Contains(b, []byte("far-create")):
			reply(w, 200, `{"model_id":"far-model","type":"create_model"}`)
		default:
			more(w, r)
		}
	}
}

func reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func bodyOf(r *http.Request) string {
	b, _ := io.ReadAll(r.Body)
	return string(b)
}
