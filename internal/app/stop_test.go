package app

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/config"
	"macaron/internal/obs"
	"macaron/internal/record"
	"macaron/internal/wire/sse"
)

// slow answers with many words, each after the client took the last; the engine's
// end of a generation is reported on ended.
func slow(g *backendtest.Scripted, words int) {
	g.On = func(ctx context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		if len(r.Choices) > 0 || backendtest.IsSummary(r) {
			return false, nil
		}
		if !emit(chat.Event{Start: &chat.Start{PromptTokens: 1}}) {
			return true, ctx.Err()
		}
		for range words {
			select {
			case <-time.After(2 * time.Millisecond):
			case <-ctx.Done():
				return true, ctx.Err()
			}
			if !emit(chat.Event{Text: "word "}) {
				return true, ctx.Err()
			}
		}
		emit(chat.Event{Finish: &chat.Finish{Reason: chat.FinishStop}})
		return true, nil
	}
}

// A client that leaves, at any event, frees the engine's slot and leaves an
// interrupted turn; goleak watches that nothing else stays.
func TestDisconnectFreesTheEngine(t *testing.T) {
	s, g := scriptedSite(t)
	slow(g, 1<<30)
	for _, at := range []int{0, 1, 2, 7, 60} {
		ctx, leave := context.WithCancel(t.Context())
		resp := s.post(streamed(ask(user("L2: count"))), func(r *http.Request) { *r = *r.WithContext(ctx) })
		events := sse.NewReader(resp.Body, 1<<20)
		for range at {
			if _, err := events.Next(); err != nil {
				t.Fatal(err)
			}
		}
		leave()
		resp.Body.Close()
		if turn := s.settled(); turn.Status != record.StatusInterrupted || turn.Reason != "canceled" {
			t.Errorf("after event %d: %s, %s", at, turn.Status, turn.Reason)
		}
		if n := g.Running(); n != 0 {
			t.Errorf("after event %d: %d slots taken", at, n)
		}
	}
}

// A stop lets an open answer finish.
func TestAStopWaitsForOpenAnswers(t *testing.T) {
	s, g := scriptedSite(t)
	slow(g, 50)
	resp := s.post(streamed(ask(user("L2: count"))))
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	chunks, last := s.chunks(resp)
	if last != "[DONE]" || strings.Count(said(chunks), "word") != 50 {
		t.Errorf("%d words, then %q", strings.Count(said(chunks), "word"), last)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// What was delivered is there after a restart, and the conversation goes on.
func TestARestartKeepsTheConversation(t *testing.T) {
	home := t.TempDir()
	first := start(t, settings(t, home), &backendtest.Scripted{})
	o := first.object(first.post(ask(user("L2: one"))))
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	g := &backendtest.Scripted{}
	second := start(t, settings(t, home), g)
	answer := object{"role": "assistant", "content": "L2 heard L2: one"}
	p := second.object(second.post(ask(user("L2: one"), answer, user("L1: two"))))
	if at[string](p, "macaron", "session") != at[string](o, "macaron", "session") {
		t.Error("the conversation was not found")
	}
	for _, r := range g.Seen() {
		for _, m := range r.Messages {
			if r.Revision.Name == "L1" && m.Text() == "L2 heard L2: one" {
				t.Error("L1 sees the answer of L2 verbatim")
			}
		}
	}
}

// An answer that does not end within the drain time is cut, and its turn is
// interrupted: a stop always comes to its end.
func TestAStopCutsWhatDoesNotEnd(t *testing.T) {
	g := &backendtest.Scripted{}
	slow(g, 1<<30)
	home := t.TempDir()
	a, err := New(settings(t, home), Options{Log: obs.Discard(), Generator: g, Drain: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, a)
	resp := s.post(streamed(ask(user("L2: count"))))
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	if _, last := s.chunks(resp); !strings.Contains(last, `"code":"canceled"`) {
		t.Errorf("the cut stream ends with %s", last)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	after := start(t, settings(t, home), &backendtest.Scripted{})
	if turn := after.settled(); turn.Status != record.StatusInterrupted || turn.Reason != "canceled" {
		t.Errorf("the turn is %s, %s", turn.Status, turn.Reason)
	}
}

// A client that leaves while its turn is routed, or waits for a summary, leaves an
// interrupted turn too.
func TestDisconnectBeforeTheFirstByte(t *testing.T) {
	s, g := scriptedSite(t)
	reached := make(chan struct{}, 1)
	g.On = func(ctx context.Context, r backend.Request, _ func(chat.Event) bool) (bool, error) {
		if len(r.Choices) == 0 {
			return false, nil
		}
		reached <- struct{}{}
		<-ctx.Done()
		return true, ctx.Err()
	}
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-reached
		leave()
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/v1/chat/completions", strings.NewReader(`{"model":"macaron","messages":[{"role":"user","content":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if resp, err := s.http.Do(r); err == nil {
		resp.Body.Close()
		t.Fatal("there is an answer")
	}
	if turn := s.settled(); turn.Status != record.StatusInterrupted || turn.Reason != "canceled" || g.Running() != 0 {
		t.Errorf("the turn is %s, %s; %d slots taken", turn.Status, turn.Reason, g.Running())
	}
}

// While it is told to wait, a server that stops says that it is not ready and serves all the same;
// who cannot wait ends that, and what is open is cut at once.
func TestAStopIsToldBeforeItComes(t *testing.T) {
	g := &backendtest.Scripted{}
	slow(g, 1<<30)
	cfg, hurry := settings(t, t.TempDir()), make(chan struct{})
	cfg.Stop = config.Stop{Delay: time.Hour, Drain: time.Hour}
	a, err := New(cfg, Options{Log: obs.Discard(), Generator: g, Hurry: hurry})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, a)
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	s.until("it says that it stops", func() bool { status, _ := s.get("/readyz"); return status == http.StatusServiceUnavailable })
	status, body := s.get("/readyz")
	if alive, _ := s.get("/healthz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "is stopping") || alive != http.StatusOK {
		t.Errorf("readyz says %d, %s; healthz %d", status, body, alive)
	}
	resp := s.post(streamed(ask(user("L2: count"))))
	first := sse.NewReader(resp.Body, 1<<20)
	if _, err := first.Next(); err != nil {
		t.Fatal(err)
	}
	close(hurry)
	if _, last := s.chunks(resp); !strings.Contains(last, `"code":"canceled"`) {
		t.Errorf("the cut stream ends with %s", last)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
