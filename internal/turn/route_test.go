package turn_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/turn"
)

// asked is the user message of the last route hop.
func (r *rig) asked() string {
	for seen := r.engine.Seen(); len(seen) > 0; seen = seen[:len(seen)-1] {
		if last := seen[len(seen)-1]; len(last.Choices) > 0 {
			return last.Messages[1].Text()
		}
	}
	return ""
}

func (r *rig) contract(old, new string) *contract.Contract {
	r.t.Helper()
	c, err := contract.Parse([]byte(strings.Replace(string(mustRead(r.t)), old, new, 1)))
	if err != nil {
		r.t.Fatal(err)
	}
	r.Catalogue.(*catalogue).set(c)
	return c
}

// A history that the client brings along is context like one of ours, but for the label.
func TestAnImportedExchangeIsContext(t *testing.T) {
	r := newRig(t)
	k := r.talk()
	k.history = []chat.Message{chat.Text(chat.User, "old"), chat.Text(chat.Assistant, "a0"), chat.Text(chat.User, "L2: a loop"), chat.Text(chat.Assistant, "for")}
	k.say("L2: shorter")
	if got, want := r.asked(), "Previous: \"L2: a loop\"\nRequest: \"L2: shorter\""; got != want {
		t.Errorf("asked %q", got)
	}
	k.say("L1: book it")
	if got, want := r.asked(), "Previous: L2 \"L2: shorter\"\nRequest: \"L1: book it\""; got != want {
		t.Errorf("asked %q", got)
	}
}

func TestSummariesAreContextWhereTheContractWantsThem(t *testing.T) {
	r := newRig(t)
	r.contract("[budgets]", "summaries = 2\n[budgets]")
	k := r.talk()
	k.history = []chat.Message{chat.Text(chat.User, "q"), chat.Text(chat.Assistant, "brought  along")}
	first := k.say("L2: one")
	if got := r.asked(); !strings.HasPrefix(got, "Earlier: \"brought along\"\nPrevious: \"q\"\n") {
		t.Errorf("asked %q", got)
	}
	r.worker.Await(t.Context(), "local", []string{first.done.Turn})
	second := k.say("L2: two")
	r.worker.Await(t.Context(), "local", []string{second.done.Turn})
	k.say("L1: three")
	sum := defaultContract(t).SummaryPrompt()
	want := "Earlier: L2 " + chat.Quote("L2 heard "+sum) + "\nEarlier: L2 " + chat.Quote("L2 heard "+sum) + "\nPrevious: L2 \"L2: two\"\nRequest: \"L1: three\""
	if d := cmp.Diff(want, r.asked()); d != "" {
		t.Error(d)
	}
	last := r.stored()[2]
	x, err := turn.Explain(t.Context(), r.log, r.Catalogue, "local", last.ID)
	if err != nil || len(x.Prompt) != 2 || x.Prompt[1].Text != want {
		t.Errorf("%v: explained as %+v", err, x.Prompt)
	}
}

// A dry run asks what the turn would ask, byte for byte, and leaves nothing.
func TestADryRunAsksAsATurnDoes(t *testing.T) {
	r := newRig(t)
	k := r.talk()
	k.say("L2: one")
	q := k.request
	q.Messages = append(append([]chat.Message(nil), k.history...), chat.Text(chat.User, "L1: two"))
	dry, err := r.Dry(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	before := r.asked()
	if len(r.stored()) != 1 {
		t.Error("a dry run is in the log")
	}
	real := k.say("L1: two")
	if d := cmp.Diff(before, r.asked()); d != "" {
		t.Error(d)
	}
	if dry.Adapter != "L1" || dry.Adapter != real.done.Adapter || dry.Session != real.done.Session || dry.Turn != "" || len(dry.Hops) != 1 {
		t.Errorf("%+v", dry)
	}
	q.Adapter = "L9"
	if _, err := r.Dry(t.Context(), q); errs.CodeOf(err) != errs.AdapterNotFound {
		t.Errorf("an unknown adapter: %v", err)
	}
	q.Adapter, q.Messages = "", []chat.Message{{Role: chat.Tool, ToolCallID: "none"}}
	if _, err := r.Dry(t.Context(), q); errs.CodeOf(err) != errs.OrphanToolTurn {
		t.Errorf("orphans: %v", err)
	}
}

func TestWhyATurnWentWhereItWent(t *testing.T) {
	r := newRig(t)
	c := r.contract("request_chars = 1200", "request_chars = 20")
	k := r.talk()
	k.say("L1: book a table")
	long := "L2: " + strings.Repeat("write a loop ", 10)
	k.request.ID = "req_2"
	done := k.say(long).done
	sent := r.asked()
	turns := r.stored()
	hop := turns[1].Hops[0].ID
	for _, id := range []string{done.Turn, hop, "req_2"} {
		x, err := turn.Explain(t.Context(), r.log, r.Catalogue, "local", id)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if x.Turn != done.Turn || x.Adapter != "L2" || x.Reason != "model" || x.Hop != hop || x.Contract != c.Hash() || x.Revision != done.Revision || x.Probabilities["L2"] != .9 {
			t.Errorf("%s: %+v", id, x)
		}
		if x.Text != long || !x.Clipped || x.Previous == nil || x.Previous.Label != "L1" || x.Previous.Clipped || len(x.Prompt) != 2 || x.Prompt[1].Text != sent {
			t.Errorf("%s: the prompt %+v is not what was sent, %q", id, x.Prompt, sent)
		}
		if len(x.Labels) != 4 || x.Engine == nil || x.Engine.Name != "scripted" || x.Cost == nil || x.Cost.PromptTokens != 10 || x.Router.Name != "L0" {
			t.Errorf("%s: %+v", id, x)
		}
	}
	k.request.Adapter = "L3"
	forced := k.say("x").done
	if x, err := turn.Explain(t.Context(), r.log, r.Catalogue, "local", forced.Turn); err != nil || x.Reason != "forced" || x.Forced != "L3" || x.Prompt != nil {
		t.Errorf("%+v, %v", x, err)
	}
	for _, id := range []string{done.Turn, hop, "req_2"} {
		if _, err := turn.Explain(t.Context(), r.log, r.Catalogue, "somebody", id); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%s is shown to another tenant: %v", id, err)
		}
	}
}

// The reason of a fall-back is in the log too.
func TestAFallbackIsExplained(t *testing.T) {
	r := newRig(t)
	r.engine.On = func(_ context.Context, q backend.Request, _ func(chat.Event) bool) (bool, error) {
		if len(q.Choices) > 0 {
			return true, errs.New(errs.UpstreamFailed, "no router today", "")
		}
		return false, nil
	}
	done := r.talk().say("write a loop").done
	x, err := turn.Explain(t.Context(), r.log, r.Catalogue, "local", done.Turn)
	if err != nil || x.Reason != "fallback" || x.Cause != "upstream_failed" || x.Error != "upstream_failed" || !strings.Contains(x.Detail, "no router today") || len(x.Prompt) != 2 {
		t.Errorf("%+v, %v", x, err)
	}
}
