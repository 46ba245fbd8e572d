package turn_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/turn"
)

const splitting = "\n[split]\nparts = 4\nby = \"pieces\"\nmin_probability = 0.5\n"

// under puts the default contract with more sections in force.
func (r *rig) under(more string) {
	r.t.Helper()
	text, err := os.ReadFile("../../macaron.toml")
	if err != nil {
		r.t.Fatal(err)
	}
	at := strings.Index(string(text), "[[adapters]]")
	c, err := contract.Parse([]byte(string(text[:at]) + more + "\n" + string(text[at:])))
	if err != nil {
		r.t.Fatal(err)
	}
	r.Catalogue.(*catalogue).set(c)
}

// TestTurnOfSeveralIntents: each part is a turn of its own, the whole is one too, and the
// conversation goes on behind it as behind any other.
func TestTurnOfSeveralIntents(t *testing.T) {
	r := newRig(t)
	r.under(splitting)
	k := r.talk()
	k.request.MaxTokens = 100
	out := k.say("L2: write a loop now. L1: book a table today.")
	const want = "L2 heard L2: write a loop now.\n\nL1 heard L1: book a table today."
	if out.text() != want || out.reason != chat.FinishStop {
		t.Fatalf("%q (%s)", out.text(), out.reason)
	}
	d := out.done
	if d.Adapter != "L2+L1" || d.Reason != "split" || len(d.Parts) != 2 || d.Parts[1].Adapter != "L1" || d.Parts[1].Request != "L1: book a table today." {
		t.Errorf("%+v", d)
	}
	kinds := map[string]int{}
	for _, h := range d.Hops {
		kinds[h.Hop]++
	}
	if kinds["split"] != 2 || kinds["answer"] != 2 || len(d.Hops) != 4 || out.usage.PromptTokens != 40 {
		t.Errorf("hops %v, usage %+v", kinds, out.usage)
	}
	for _, q := range r.engine.Seen() {
		if len(q.Choices) == 0 && !backendtest.IsSummary(q) && q.MaxTokens != 50 {
			t.Errorf("a part may have %d tokens, half of 100", q.MaxTokens)
		}
	}
	turns := r.stored()
	if len(turns) != 3 || turns[0].Part != nil || *turns[1].Part != (record.PartOf{Turn: turns[0].ID, Index: turns[1].Part.Index}) || turns[1].Parent != "" {
		t.Fatalf("%d turns: %+v", len(turns), turns)
	}
	for _, x := range turns {
		if x.Status != record.StatusDelivered || x.Route == nil || x.Route.Reason != "split" {
			t.Errorf("%+v", x)
		}
	}
	next := k.say("L2: and in Go?")
	if next.done.Session != d.Session || next.done.Adapter != "L2" {
		t.Errorf("went on as %+v", next.done)
	}
	// The specialist sees its own part verbatim, and the whole as others see it.
	sent := r.engine.Seen()
	for i := len(sent) - 1; i >= 0; i-- {
		if q := sent[i]; len(q.Choices) == 0 && !backendtest.IsSummary(q) {
			if got := q.Messages[2].Text(); !strings.HasPrefix(got, "[Another specialist answered. In short: ") || !strings.HasSuffix(got, "]\n\nL2 heard L2: write a loop now.") {
				t.Errorf("L2 sees %q", got)
			}
			break
		}
	}
	x, err := turn.Explain(t.Context(), r.log, r.Catalogue, "local", d.Turn)
	if err != nil || x.Reason != "split" || len(x.Parts) != 2 || len(x.Pieces) != 2 {
		t.Errorf("%+v, %v", x, err)
	}
	y, err := turn.Explain(t.Context(), r.log, r.Catalogue, "local", d.Parts[0].Turn)
	if err != nil || y.Part == nil || y.Part.Turn != d.Turn || y.Adapter != "L2" {
		t.Errorf("%+v, %v", y, err)
	}
	_, steps, err := r.log.Steps(t.Context(), "local", d.Turn)
	if err != nil || steps[0].Message().Text() != want || steps[0].Usage().PromptTokens != 40 {
		t.Errorf("kept as %+v, %v", steps, err)
	}
	var got session.Turn
	if got, err = r.log.Turn(t.Context(), "local", d.Turn); err != nil || got.Summary == "" || got.SummarySource != record.SummaryParts && got.SummarySource != record.SummaryExtract {
		t.Errorf("summary %q of %s, %v", got.Summary, got.SummarySource, err)
	}
}

// TestPartThatBuildsOnAnother sees the other's answer in short, and waits for it.
func TestPartThatBuildsOnAnother(t *testing.T) {
	r := newRig(t)
	r.under(splitting)
	out := r.talk().say("L2: write a loop now. L1: remind me of that today.")
	if d := out.done; len(d.Parts) != 2 || d.Parts[1].After != 1 {
		t.Fatalf("%+v", d)
	}
	turns := r.stored()
	if turns[2].Parent != turns[1].ID {
		t.Errorf("the second part follows %s", turns[2].Parent)
	}
	for _, q := range r.engine.Seen() {
		if len(q.Choices) == 0 && q.Revision.Name == "L1" && !backendtest.IsSummary(q) && (len(q.Messages) != 4 || !strings.Contains(q.Messages[2].Text(), "In short")) {
			t.Errorf("L1 saw %v", q.Messages)
		}
	}
}

// TestOneIntentIsOneTurn: what is not split is routed as ever, whatever was asked before.
func TestOneIntentIsOneTurn(t *testing.T) {
	r := newRig(t)
	r.under(splitting)
	tools := []chat.ToolDef{{Name: "f"}}
	for _, c := range []struct {
		text   string
		change func(*turn.Request)
	}{
		{"L2: write a loop now. L2: and print it twice.", func(*turn.Request) {}},
		{"L2: write a loop", func(*turn.Request) {}},
		{"L2: write a loop now. L1: book a table today.", func(q *turn.Request) { q.Tools = tools }},
		{"L2: write a loop now. L1: book a table today.", func(q *turn.Request) { q.Adapter = "L2" }},
	} {
		k := r.talk()
		c.change(&k.request)
		if d := k.say(c.text).done; d.Adapter != "L2" || len(d.Parts) != 0 {
			t.Errorf("%s: %+v", c.text, d)
		}
	}
}

// TestFailedPartFailsTheTurn, which can be sent again in the same session.
func TestFailedPartFailsTheTurn(t *testing.T) {
	r := newRig(t)
	r.under(splitting)
	k := r.talk()
	var broken atomic.Bool
	r.engine.On = func(_ context.Context, q backend.Request, emit func(chat.Event) bool) (bool, error) {
		if broken.Load() && q.Revision.Name == "L1" && len(q.Choices) == 0 {
			return true, errs.New(errs.UpstreamFailed, "no", "")
		}
		return false, nil
	}
	first := k.say("L0: hello to you")
	broken.Store(true)
	if _, err := k.try(chat.Text(chat.User, "L2: write a loop now. L1: book a table today.")); errs.CodeOf(err) != errs.UpstreamFailed {
		t.Fatal(err)
	}
	for _, x := range r.stored()[1:] {
		if x.Part == nil && x.Status != record.StatusInterrupted || x.Status == record.StatusOpen {
			t.Errorf("%+v", x)
		}
	}
	broken.Store(false)
	k.history = k.history[:2]
	if d := k.say("L2: write a loop now. L1: book a table today.").done; d.Session != first.done.Session || len(d.Parts) != 2 {
		t.Errorf("%+v", d)
	}
}

// TestClientThatLeavesASplitTurn ends all of it.
func TestClientThatLeavesASplitTurn(t *testing.T) {
	r := newRig(t)
	r.under(splitting)
	ctx, leave := context.WithCancel(t.Context())
	out := &sink{onEvent: func(n int) error { leave(); return errors.New("gone") }}
	q := turn.Request{ID: "req", Owner: "local", Messages: []chat.Message{chat.Text(chat.User, "L2: write a loop now. L1: book a table today.")}}
	if err := r.Run(ctx, q, out); errs.CodeOf(err) != errs.Canceled {
		t.Fatal(err)
	}
	for _, x := range r.stored() {
		if x.Part == nil && x.Status != record.StatusInterrupted || x.Status == record.StatusOpen {
			t.Errorf("%+v", x)
		}
	}
	if n := r.engine.Running(); n != 0 {
		t.Errorf("%d generations go on", n)
	}
}

// TestModelPlan: the router writes the plan; what is no plan leaves the turn to one.
func TestModelPlan(t *testing.T) {
	r := newRig(t)
	r.under("\n[split]\nparts = 3\nby = \"model\"\nprompt = \"Split. {{adapters}}\"\ntokens = 200\n")
	can := r.engine.Capabilities()
	can.JSONSchema = true
	r.engine.Can = &can
	plan := `{"parts":[{"adapter":"L2","request":"loop","after":0},{"adapter":"L0","request":"explain","after":1}]}`
	r.engine.On = func(_ context.Context, q backend.Request, emit func(chat.Event) bool) (bool, error) {
		if !q.Sampling.Formatted() {
			return false, nil
		}
		backendtest.Emit(emit, chat.Event{Text: plan})
		return true, nil
	}
	if out := r.talk().say("L2: write a loop"); out.text() != "L2 heard loop\n\nL0 heard explain" {
		t.Errorf("%q", out.text())
	}
	plan = `{"parts":[`
	out := r.talk().say("L2: write a loop")
	if out.done.Reason != "model" || len(out.done.Hops) != 3 || out.done.Hops[0].Hop != "split" {
		t.Errorf("%+v", out.done)
	}
}
