package turn_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/turn"
)

// TestAnswerGoesOnFromTheRoute: both prompts begin with one view, which names no specialist;
// the answer asks for the router's keys and values of it.
func TestAnswerGoesOnFromTheRoute(t *testing.T) {
	r := newRig(t)
	r.under("\n")
	c, err := r.Catalogue.Current(t.Context(), "local", "", "")
	if err != nil {
		t.Fatal(err)
	}
	k := *c.Contract
	k.Router.Overlay = true
	r.Catalogue.(*catalogue).set(&k)
	can := r.engine.Capabilities()
	can.Overlays = true
	r.engine.Can = &can
	say := r.talk()
	say.say("L2: write a loop")
	d := say.say("and again").done
	var last, routed backend.Request
	for _, q := range r.engine.Seen() {
		switch {
		case len(q.Choices) > 0:
			routed = q
		case !backendtest.IsSummary(q):
			last = q
		}
	}
	n := len(last.Messages)
	if diff := cmp.Diff(last.Messages, routed.Messages[:n]); diff != "" || len(routed.Messages) != n+1 || !strings.HasPrefix(routed.Messages[n].Text(), "Pick the specialist") {
		t.Errorf("%s%v", diff, routed.Messages)
	}
	if n != 4 || !strings.Contains(last.Messages[2].Text(), "In short") || strings.Contains(last.Messages[0].Text(), "You write") {
		t.Errorf("the view is %v", last.Messages)
	}
	if last.Overlay.Revision.Name != "L0" || cmp.Diff(last.Overlay.Like, routed.Messages) != "" {
		t.Errorf("%+v", last.Overlay)
	}
	x, err := turn.Explain(t.Context(), r.log, r.Catalogue, "local", d.Turn)
	if err != nil || len(x.Prompt) != n+1 || x.Prompt[n].Text != routed.Messages[n].Text() {
		t.Errorf("%+v, %v", x.Prompt, err)
	}
	// With tools, and on a named adapter, the layout is the plain one.
	say.request.Tools = []chat.ToolDef{{Name: "f"}}
	say.say("L1: more")
	if seen := r.engine.Seen(); len(seen[len(seen)-1].Overlay.Like) != 0 {
		t.Error("an overlay with tools")
	}
}
