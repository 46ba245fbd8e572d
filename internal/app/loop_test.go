package app

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"macaron/internal/backend/upstream"
	"macaron/internal/config"
	"macaron/internal/obs"
)

// A server whose engine is itself says so at once, and no request waits for a place that
// its own maker holds.
func TestAServerThatIsItsOwnEngineSaysSo(t *testing.T) {
	l := listener(t)
	cfg := settings(t, t.TempDir())
	cfg.Queue = config.Queue{Running: 1, Waiting: 4}
	cfg.Upstream.URL, cfg.Upstream.Dialect = "http://"+l.Addr().String()+"/v1", "auto"
	a, err := New(cfg, Options{Version: "test", Log: obs.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	s := serveBy(t, a, func(ctx context.Context) error { return a.Serve(ctx, l) })
	for _, dialect := range []string{"auto", "openai"} {
		q := ask(user("x"))
		q["model"] = "macaron/L0" // no route hop, whose failure falls back
		resp := s.post(q)
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusBadGateway || !strings.Contains(string(text), "this server itself") {
			t.Errorf("%s: %d %s", dialect, resp.StatusCode, text)
		}
	}
	if code, text := s.get("/readyz"); code != 503 || !strings.Contains(text, "this server itself") {
		t.Errorf("readyz: %d %s", code, text)
	}
}

// The settings and the room that speaks to engines know the same dialects.
func TestTheDialectsOfTheSettings(t *testing.T) {
	for _, name := range upstream.Dialects() {
		if !slices.Contains(config.Dialects(), name) {
			t.Errorf("the settings do not take %s", name)
		}
	}
	for _, name := range config.Dialects() {
		b := upstream.New(upstream.Config{URL: "http://127.0.0.1:1/v1", Dialect: name})
		if err := b.Usable(); err != nil {
			t.Errorf("the settings take %s: %v", name, err)
		}
	}
}
