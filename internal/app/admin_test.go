package app

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
)

func (s *site) dryRun(body string) (int, object) {
	s.t.Helper()
	resp, err := s.http.Post(s.base+"/admin/route", "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode, s.object(resp)
}

// A dry run decides as a turn would, and leaves nothing behind.
func TestADryRunOfTheRouter(t *testing.T) {
	s, g := scriptedSite(t)
	code, o := s.dryRun(`{"text":"L2: write a loop","previous":{"label":"L1","text":"book a table"}}`)
	if code != 200 || at[string](o, "adapter") != "L2" || at[float64](o, "probabilities", "L2") != 0.9 || len(at[[]any](o, "hops")) != 1 {
		t.Errorf("%d %v", code, o)
	}
	if prompt := g.Seen()[0].Messages[1].Text(); !strings.HasPrefix(prompt, `Previous: L1 "book a table"`) {
		t.Errorf("asked %q", prompt)
	}
	if _, body := s.get("/admin/sessions"); !strings.Contains(body, `"data":[]`) {
		t.Errorf("a dry run is in the log: %s", body)
	}
	for body, field := range map[string]string{`{}`: "text", `{"text":""}`: "text", `{"text":1}`: "text", `{"text":"x","previous":1}`: "previous", `{"text":"x","previous":{"label":"a b"}}`: "", `{"text":"x","zz":1}`: "zz"} {
		if code, o := s.dryRun(body); code != 400 || field != "" && at[string](o, "error", "param") != field {
			t.Errorf("%s gives %d %v", body, code, o)
		}
	}
}

// More turns than the queue holds are refused at once, with a time to come back.
func TestOverload(t *testing.T) {
	cfg := settings(t, t.TempDir())
	cfg.Queue.Running, cfg.Queue.Waiting = 1, 1
	release, began := make(chan struct{}), make(chan struct{}, 2)
	g := &backendtest.Scripted{On: func(_ context.Context, r backend.Request, _ func(chat.Event) bool) (bool, error) {
		if len(r.Choices) > 0 {
			began <- struct{}{}
			<-release
		}
		return false, nil
	}}
	s := start(t, cfg, g)
	answers := make(chan int, 2)
	for range 2 {
		go func() {
			resp, err := s.http.Post(s.base+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"macaron","messages":[{"role":"user","content":"L2"}]}`))
			if err != nil {
				answers <- 0
				return
			}
			defer resp.Body.Close()
			_, _ = io.Copy(io.Discard, resp.Body)
			answers <- resp.StatusCode
		}()
	}
	<-began
	for refused := false; !refused; {
		// Until the second request waits, a third one would take its place.
		if _, body := s.get("/metrics"); !strings.Contains(body, "macaron_turns_waiting 1") {
			continue
		}
		resp := s.post(ask(user("L2")))
		refused = resp.StatusCode == http.StatusTooManyRequests
		if !refused || resp.Header.Get("Retry-After") == "" {
			t.Fatalf("%d, Retry-After %q", resp.StatusCode, resp.Header.Get("Retry-After"))
		}
	}
	close(release)
	if a, b := <-answers, <-answers; a != 200 || b != 200 {
		t.Errorf("the accepted ones got %d and %d", a, b)
	}
}
