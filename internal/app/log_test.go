package app

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"macaron/internal/obs"
)

// buffer is a log that several goroutines write.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// A process that ends for another reason, such as a wrong contract, does not blame the
// model that it stopped loading.
func TestALoadThatIsCutShortIsNoFault(t *testing.T) {
	log := &buffer{}
	a := &App{front: front{log: obs.NewLog(log, "info", "text")}}
	ctx, cancel := context.WithCancel(t.Context())
	a.noteLoad(ctx, io.ErrUnexpectedEOF)
	if first := log.String(); !strings.Contains(first, "the model cannot be loaded") {
		t.Errorf("a fault is not told: %q", first)
	}
	told := log.String()
	cancel()
	a.noteLoad(ctx, context.Canceled)
	if log.String() != told {
		t.Errorf("told: %s", log.String()[len(told):])
	}
}

// The operator's log, at its most talkative, has neither keys nor what people and
// models say; it does have who answered.
func TestTheLogHasNeitherKeysNorWords(t *testing.T) {
	log := &buffer{}
	below := engineBelow(t, says("canary label"), says("canary answer"))
	cfg := settings(t, t.TempDir())
	cfg.Upstream = below.cfg.Upstream
	a, err := New(cfg, Options{Log: obs.NewLog(log, "debug", "json")})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, a)
	for _, q := range []object{
		ask(user("canary question")), streamed(ask(user("canary question"))),
		{"model": "canary-model", "messages": []any{user("canary")}}, {"model": "macaron", "messages": []any{user("x")}, "user": "canary-user"},
		{"model": "macaron", "messages": []any{user("x")}, "metadata": object{"canary": "canary"}},
		{"model": "macaron", "messages": []any{object{"role": "user", "content": object{"text": "canary in a wrong place"}}}},
		{"model": "macaron", "messages": []any{object{"role": "canary", "content": "x"}}},
		{"model": "macaron", "messages": []any{user("x"), object{"role": "tool", "tool_call_id": "canary", "content": "canary"}}},
	} {
		resp := s.post(q)
		_, _ = io.Copy(io.Discard, resp.Body)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	text := log.String()
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "canary") {
			t.Errorf("the log has %s", line)
		}
	}
	if !strings.Contains(text, `"msg":"turn"`) || !strings.Contains(text, `"adapter":"L0"`) || !strings.Contains(text, `"cause":"format_invalid"`) {
		t.Errorf("the log tells too little: %s", text)
	}
}
