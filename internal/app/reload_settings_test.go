package app

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/obs"
)

// engineCalled is a server that counts the chat completions it refuses.
func engineCalled(t *testing.T, calls *atomic.Int32) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			calls.Add(1)
		}
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":{"message":"no"}}`)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

// reloading is a site whose config.toml a test rewrites.
type reloading struct {
	*site
	path string
}

// write puts a config.toml with one engine there, or with none.
func (s *reloading) write(engine, more string) {
	s.t.Helper()
	if engine != "" {
		more += "\n[[engines]]\nname = \"a\"\nurl = \"" + engine + "\"\ndialect = \"openai\"\n"
	}
	if err := os.WriteFile(s.path, []byte(more), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *reloading) reload(status int) object {
	s.t.Helper()
	resp, body := s.send("POST", "/admin/reload", "")
	if resp.StatusCode != status {
		s.t.Fatalf("status %d: %s", resp.StatusCode, body)
	}
	return decoded(s.t, body)
}

// knows reports whether the server answers to a name.
func (s *reloading) knows(host string) bool {
	resp, _ := s.send("GET", "/healthz", "", func(r *http.Request) { r.Host = host })
	return resp.StatusCode == http.StatusOK
}

func startReloading(t *testing.T, engine, more string) *reloading {
	t.Helper()
	home := t.TempDir()
	contract := settings(t, home).Contract
	s := &reloading{site: &site{t: t}, path: filepath.Join(home, "config.toml")}
	s.write(engine, more)
	read := func() (config.Config, error) {
		return config.Load(map[string]string{"home": home, "contract": contract, "listen": "127.0.0.1:0"})
	}
	cfg, err := read()
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(cfg, Options{Settings: read, Log: obs.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	a.level = &slog.LevelVar{} // as if the log were the app's own
	s.site = serve(t, a)
	return s
}

// A changed config.toml is taken up; what needs a restart is named.
func TestReload(t *testing.T) {
	var first, second atomic.Int32
	one, two := engineCalled(t, &first), engineCalled(t, &second)
	s := startReloading(t, one, "")
	call := func() { s.post(object{"model": "macaron/L2", "messages": []any{user("x")}}) }
	if call(); first.Load() == 0 {
		t.Fatal("the first engine was not asked")
	}
	s.write(two, "durability = \"full\"\nhosts = \"macaron.example\"\n[queue]\nrunning = 3\nroute_timeout = \"5s\"\n[log]\nlevel = \"debug\"\n[retention]\ndays = 9\n")
	if diff := cmp.Diff(object{
		"changed": []any{"retention.days", "queue.running", "hosts", "log.level", "engines"}, "restart": []any{"durability", "queue.route_timeout"},
	}, s.reload(200)); diff != "" {
		t.Error(diff)
	}
	before := first.Load()
	if call(); first.Load() != before || second.Load() == 0 {
		t.Errorf("the engines were asked %d and %d times", first.Load()-before, second.Load())
	}
	if !s.knows("macaron.example") || s.level.Level() != slog.LevelDebug || s.policy.Load().Keep == 0 {
		t.Errorf("the level is %v, the policy %+v", s.level.Level(), s.policy.Load())
	}
	s.write("", "durability = \"full\"\n") // what waits for a restart waits on; the embedded engine would have to start
	if diff := cmp.Diff([]any{"durability", "engines"}, s.reload(200)["restart"]); diff != "" {
		t.Error(diff)
	}
}

// A file that cannot be used leaves everything as it was.
func TestABadFileChangesNothing(t *testing.T) {
	var calls atomic.Int32
	engine := engineCalled(t, &calls)
	s := startReloading(t, engine, "hosts = \"macaron.example\"\n")
	s.write(engine, "hosts = \"other.example\"\n[queue]\nrunning = 0\n")
	if o := s.reload(400); !strings.Contains(at[string](o, "error", "message"), "queue.running") {
		t.Errorf("got %v", o)
	}
	if !s.knows("macaron.example") || s.knows("other.example") {
		t.Error("half a file is in force")
	}
	s.write(engine, "hosts = \"other.example\"\n")
	s.reload(200)
	if _, m := s.get("/metrics"); !strings.Contains(m, `reloads_total{outcome="ok"} 1`) || !strings.Contains(m, `reloads_total{outcome="refused"} 1`) || !s.knows("other.example") {
		t.Error("the reloads are not counted, or the good file is not in force")
	}
}

func TestWithoutSettingsThereIsNoReload(t *testing.T) {
	s, _ := scriptedSite(t)
	if _, err := s.Reload(); errs.CodeOf(err) != errs.Unsupported {
		t.Errorf("got %v", err)
	}
}
