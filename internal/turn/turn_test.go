package turn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var zeroTime time.Time

// view gives the messages of the last answer hop as "role: text" lines.
func (r *rig) view() []string {
	for seen := r.engine.Seen(); len(seen) > 0; seen = seen[:len(seen)-1] {
		last := seen[len(seen)-1]
		text := last.Messages[len(last.Messages)-1].Text()
		if len(last.Choices) == 0 && text != defaultContract(r.t).SummaryPrompt() {
			var lines []string
			for _, m := range last.Messages {
				lines = append(lines, string(m.Role)+": "+m.Text())
			}
			return lines
		}
	}
	return nil
}

func TestAConversationAcrossSpecialists(t *testing.T) {
	r := newRig(t)
	k := r.talk()
	first := k.say("L2: write a loop")
	if first.done.Adapter != "L2" || first.done.Reason != "model" || first.done.Probabilities["L2"] != 0.9 || first.reason != chat.FinishStop {
		t.Errorf("report %+v", first.done)
	}
	if first.usage.PromptTokens != 20 || first.usage.CachedTokens != 8 || len(first.done.Hops) != 2 {
		t.Errorf("usage %+v, hops %+v", first.usage, first.done.Hops)
	}
	if first.chosen.Turn != first.done.Turn || len(first.chosen.Hops) != 1 {
		t.Errorf("before the answer: %+v", first.chosen)
	}
	second := k.say("L1: book a table")
	if second.done.Session != first.done.Session {
		t.Error("the conversation was not found by its content")
	}
	c := defaultContract(t)
	want := []string{
		"system: " + c.AnswerSystem("L1", nil), "user: L2: write a loop",
		"assistant: " + c.Foreign("L2 heard "+c.SummaryPrompt()), "user: L1: book a table",
	}
	if d := cmp.Diff(want, r.view()); d != "" {
		t.Error(d)
	}
	k.say("L2: go on")
	view := r.view()
	if view[2] != "assistant: L2 heard L2: write a loop" || view[4] != "assistant: "+c.Foreign("L1 heard "+c.SummaryPrompt()) {
		t.Errorf("re-entry sees %q", view)
	}
	for _, turn := range r.stored() {
		if turn.Status != record.StatusDelivered || turn.Route == nil || turn.Contract != c.Hash() {
			t.Errorf("turn %+v", turn)
		}
	}
}

func TestToolResultsStayOnTheAdapterAndItsContract(t *testing.T) {
	r := newRig(t)
	r.engine.On = func(_ context.Context, q backend.Request, emit func(chat.Event) bool) (bool, error) {
		if len(q.Choices) > 0 || q.Messages[len(q.Messages)-1].Role == chat.Tool || backendtest.IsSummary(q) {
			return false, nil
		}
		backendtest.Emit(emit, chat.Event{Text: "one moment"}, backendtest.Call(0, "call_1", "find", `{"what": "table"}`))
		return true, nil
	}
	k := r.talk()
	k.request.Tools = []chat.ToolDef{{Name: "find"}}
	called := k.say("L1: book a table")
	if called.reason != chat.FinishTools || called.done.Adapter != "L1" {
		t.Fatalf("%+v", called)
	}
	if turns := r.stored(); turns[0].Status != record.StatusAwaiting {
		t.Errorf("status %s", turns[0].Status)
	}
	// Meanwhile the contract in force changes: the open turn does not.
	next := strings.Replace(string(mustRead(t)), "version = \"0.1.0\"", "version = \"0.2.0\"", 1)
	changed, err := contract.Parse([]byte(next))
	if err != nil {
		t.Fatal(err)
	}
	r.Catalogue.(*catalogue).set(changed)
	asked := len(r.engine.Seen())
	// The client writes the arguments anew, as clients do.
	k.history[1].ToolCalls[0].Arguments = `{"what":"table"}`
	done := k.send(chat.Message{Role: chat.Tool, ToolCallID: "call_1", Parts: []chat.Part{{Kind: "text", Text: "at eight"}}})
	if done.done.Adapter != "L1" || done.done.Reason != "sticky" || done.done.Turn != called.done.Turn {
		t.Errorf("report %+v", done.done)
	}
	if done.done.Contract != defaultContract(t).Hash() || done.done.Revision != called.done.Revision {
		t.Error("the turn did not stay on what it was pinned to")
	}
	if more := r.engine.Seen()[asked:]; len(more[0].Choices) > 0 {
		t.Error("a turn with tool results was routed")
	}
	if k.say("L1: thanks"); r.view()[0] == "" {
		t.Error("no view")
	}
	if got := r.stored()[1].Contract; got != changed.Hash() {
		t.Errorf("the next turn has the contract %s", got)
	}
}

func TestForcedAndUnknownAdapters(t *testing.T) {
	r := newRig(t)
	k := r.talk()
	k.request.Adapter = "L3"
	if out := k.say("L2: write a loop"); out.done.Adapter != "L3" || out.done.Reason != "forced" {
		t.Errorf("%+v", out.done)
	}
	k.request.Adapter = "L9"
	if _, err := k.try(chat.Text(chat.User, "x")); errs.CodeOf(err) != errs.AdapterNotFound {
		t.Errorf("got %v", err)
	}
	if len(r.stored()) != 1 {
		t.Error("a refused turn is in the log")
	}
}

// B9: a summary that no model can write is an extract, never nothing.
func TestAFailedSummaryIsAnExtractB9(t *testing.T) {
	r := newRig(t)
	r.engine.On = func(_ context.Context, q backend.Request, _ func(chat.Event) bool) (bool, error) {
		if backendtest.IsSummary(q) {
			return true, errs.New(errs.Internal, "no summary today", "")
		}
		return false, nil
	}
	k := r.talk()
	k.say("L2: write a loop")
	k.say("L1: book a table")
	if view := r.view(); view[2] != "assistant: "+defaultContract(t).Foreign("L2 heard L2: write a loop") {
		t.Errorf("the view has %q", view[2])
	}
}

// The next turn waits for a summary only if it goes to another specialist, and no
// longer than the contract allows.
func TestOnlyAForeignTurnIsWaitedFor(t *testing.T) {
	r := newRig(t)
	text := strings.Replace(string(mustRead(t)), "summary_wait_ms = 20000", "summary_wait_ms = 30", 1)
	c, err := contract.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Catalogue.(*catalogue).set(c)
	release := make(chan struct{})
	r.engine.On = func(ctx context.Context, q backend.Request, _ func(chat.Event) bool) (bool, error) {
		if backendtest.IsSummary(q) {
			select {
			case <-release:
			case <-ctx.Done():
			}
		}
		return false, nil
	}
	k := r.talk()
	k.say("L2: one")
	k.say("L2: two") // does not wait, or this test would never end
	k.say("L1: three")
	if view := r.view(); view[2] != "assistant: "+c.Foreign("L2 heard L2: one") || view[4] != "assistant: "+c.Foreign("L2 heard L2: two") {
		t.Errorf("after the wait: %q", view)
	}
	close(release)
	k.say("L1: four")
	if view := r.view(); view[2] != "assistant: "+c.Foreign("L2 heard L2: one") {
		t.Errorf("a summary that a view used has changed: %q", view[2])
	}
}

func TestTheClientLeavesAtAnyEvent(t *testing.T) {
	const words = 40
	for at := 1; at <= words+1; at += 8 {
		r := newRig(t)
		r.engine.On = func(_ context.Context, q backend.Request, emit func(chat.Event) bool) (bool, error) {
			if len(q.Choices) > 0 {
				return false, nil
			}
			backendtest.Emit(emit, backendtest.Words(strings.TrimSpace(strings.Repeat("word ", words)))...)
			return true, nil
		}
		ctx, leave := context.WithCancel(t.Context())
		out := &sink{onEvent: func(n int) error {
			if n == at {
				leave()
			}
			return nil
		}}
		q := r.talk().request
		q.Messages = []chat.Message{chat.Text(chat.User, "L2: count")}
		if err := r.Run(ctx, q, out); errs.CodeOf(err) != errs.Canceled {
			t.Errorf("event %d: %v", at, err)
		}
		turns := r.stored()
		if len(turns) != 1 || turns[0].Status != record.StatusInterrupted || turns[0].Reason != "canceled" {
			t.Errorf("event %d: %+v", at, turns[0])
		}
		if out.reason != "" || r.engine.Running() != 0 {
			t.Errorf("event %d: told %q, %d slots taken", at, out.reason, r.engine.Running())
		}
		leave()
	}
}

// An interrupted turn is no history: the same request again is a turn of its own.
func TestAnEngineFailureIsInterruptedAndNeverHistory(t *testing.T) {
	r := newRig(t)
	fail := true
	r.engine.On = func(_ context.Context, q backend.Request, emit func(chat.Event) bool) (bool, error) {
		if len(q.Choices) == 0 && fail {
			emit(chat.Event{Start: &chat.Start{PromptTokens: 3}})
			emit(chat.Event{Text: "half an"})
			return true, errs.New(errs.UpstreamFailed, "the engine broke off", "")
		}
		return false, nil
	}
	k := r.talk()
	if _, err := k.try(chat.Text(chat.User, "L2: one")); errs.CodeOf(err) != errs.UpstreamFailed {
		t.Fatalf("got %v", err)
	}
	turns := r.stored()
	if turns[0].Status != record.StatusInterrupted || len(turns[0].Hops) != 2 || turns[0].Hops[1].Error != "upstream_failed" {
		t.Errorf("%+v", turns[0])
	}
	fail = false
	k.history = nil
	k.say("L2: one")
	if view := r.view(); len(view) != 2 {
		t.Errorf("the view is %q", view)
	}
}

// B11: the engine's own 401 and 404 are never the client's, nor is a broken adapter.
func TestTheEnginesOwnErrorsAreNotTheClientsB11(t *testing.T) {
	for _, code := range []errs.Code{errs.Unauthenticated, errs.Forbidden, errs.NotFound, errs.ModelNotFound, errs.FormatInvalid, errs.ChecksumMismatch} {
		r := newRig(t)
		r.engine.On = func(_ context.Context, q backend.Request, _ func(chat.Event) bool) (bool, error) {
			return len(q.Choices) == 0, errs.New(code, "no", "")
		}
		_, err := r.talk().try(chat.Text(chat.User, "x"))
		if got := errs.CodeOf(err); got != errs.UpstreamFailed {
			t.Errorf("%s is shown as %s", code, got)
		}
	}
}

func TestAPanicLeavesTheTurnInterrupted(t *testing.T) {
	r := newRig(t)
	r.engine.On = func(_ context.Context, q backend.Request, _ func(chat.Event) bool) (bool, error) {
		if len(q.Choices) == 0 {
			panic("defect")
		}
		return false, nil
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = r.talk().try(chat.Text(chat.User, "x"))
	}()
	if turns := r.stored(); turns[0].Status != record.StatusInterrupted || turns[0].Reason != "panic" {
		t.Errorf("%+v", turns[0])
	}
}

func TestWhatTheEngineCannotDoIsRefusedEarly(t *testing.T) {
	r := newRig(t)
	r.engine.Can = &backend.Capabilities{Choices: true}
	tools := []chat.ToolDef{{Name: "f"}}
	image := chat.Message{Role: chat.User, Parts: []chat.Part{{Kind: "image"}}}
	for field, change := range map[string]func(*talk){
		"messages[0].content": func(k *talk) { k.history = append(k.history, image) },
		"tools":               func(k *talk) { k.request.Tools = tools },
		"tool_choice":         func(k *talk) { k.request.ToolChoice.Mode = "required" },
		"logprobs":            func(k *talk) { k.request.Sampling.Logprobs = true },
		"response_format":     func(k *talk) { k.request.Sampling.ResponseFormat = []byte(`{"type":"json_object"}`) },
	} {
		k := r.talk()
		change(k)
		_, err := k.try(chat.Text(chat.User, "x"))
		if e := errs.As(err); e == nil || e.Code != errs.Unsupported || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if len(r.engine.Seen()) != 0 {
		t.Error("the engine was asked")
	}
}

func TestSummariesSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	t.Run("before", func(t *testing.T) {
		r := openRig(t, dir)
		r.engine.On = func(ctx context.Context, q backend.Request, _ func(chat.Event) bool) (bool, error) {
			if backendtest.IsSummary(q) {
				<-ctx.Done()
				return true, ctx.Err()
			}
			return false, nil
		}
		r.talk().say("L2: one")
	})
	t.Run("after", func(t *testing.T) {
		r := openRig(t, dir)
		id := r.stored()[0].ID
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if !r.worker.Await(ctx, "local", []string{id}) {
			t.Fatal("the summary was not written after the restart")
		}
		if turn := r.stored()[0]; turn.SummarySource != "model" || !strings.HasPrefix(turn.Summary, "L2 heard") {
			t.Errorf("%q from %q", turn.Summary, turn.SummarySource)
		}
	})
}

func TestTurnsOfACrashedProcessAreSwept(t *testing.T) {
	dir := t.TempDir()
	t.Run("before", func(t *testing.T) {
		r := openRig(t, dir)
		// A crash: the turn begins and nothing closes it.
		q := turnRequest("L2: one")
		p, err := r.Sessions.Resolve(t.Context(), where, q.Messages)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Sessions.Begin(t.Context(), p, opening(t)); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("after", func(t *testing.T) {
		r := openRig(t, dir)
		if turn := r.stored()[0]; turn.Status != record.StatusInterrupted {
			t.Errorf("status %s", turn.Status)
		}
	})
}

func TestManyTurnsAtOnceStayApart(t *testing.T) {
	r := newRig(t)
	errsOut := make(chan error, 8)
	for i := range 8 {
		go func() {
			k := r.talk()
			k.request.Scope = fmt.Sprint(i)
			for n := range 3 {
				text := fmt.Sprintf("L%d: nonce %d-%d", (i+n)%4, i, n)
				out, err := k.try(chat.Text(chat.User, text))
				if err == nil && !strings.HasSuffix(out.text(), text) {
					err = errors.New(out.text())
				}
				if err != nil {
					errsOut <- err
					return
				}
			}
			errsOut <- nil
		}()
	}
	for range 8 {
		if err := <-errsOut; err != nil {
			t.Error(err)
		}
	}
}
