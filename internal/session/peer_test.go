package session_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/session"
)

func wantView(t *testing.T, b begun, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{"system:SYS "}, want...), lines(b.view)); diff != "" {
		t.Errorf("%s's view (-want +got):\n%s", b.label, diff)
	}
}

// An ordinary client sends no header, only its whole conversation.
func TestB1_OwnViewWorksWithoutHeader(t *testing.T) {
	r := newRig(t)
	h, first := r.say(t, []chat.Message{user("u1")}, "L2", "A1 in full")
	r.summarize(t, first.ID, "S1")
	_, second := r.say(t, with(h, user("u2")), "L1", "A2")
	wantView(t, second, "user:u1", "assistant:[S1]", "user:u2")
	if second.Session != first.Session || second.Parent != first.ID {
		t.Errorf("turn 2 is in %s after %q", second.Session, second.Parent)
	}
}

// A foreign turn keeps the user's words and loses the answer, once each.
func TestB2_ForeignTurnIsUserAndSummaryOnly(t *testing.T) {
	r := newRig(t)
	h, first := r.say(t, []chat.Message{user("u1")}, "L2", "A1")
	r.summarize(t, first.ID, "S1")
	h, second := r.say(t, with(h, user("u2")), "L1", "A2")
	r.summarize(t, second.ID, "S2")
	_, third := r.say(t, with(h, user("u3")), "L0", "A3")
	wantView(t, third, "user:u1", "assistant:[S1]", "user:u2", "assistant:[S2]", "user:u3")
}

// On re-entry a specialist finds its own answer where it was.
func TestB3_OwnAnswerKeptOnReentry(t *testing.T) {
	r := newRig(t)
	h, first := r.say(t, []chat.Message{user("u1")}, "L2", "A1")
	h, second := r.say(t, with(h, user("u2")), "L1", "A2")
	r.summarize(t, second.ID, "too late is fine: nobody has used one yet")
	_, third := r.say(t, with(h, user("u3")), "L2", "A3")
	wantView(t, third, "user:u1", "assistant:A1", "user:u2", "assistant:[too late is fine: nobody has used one yet]", "user:u3")
	if got := encode(t, third.view[:len(first.view)]); got != encode(t, first.view) {
		t.Errorf("the first view is not a prefix: %s", got)
	}
}

// The same body again, or an edit, routed elsewhere, still shows the question.
func TestB4_QuestionNeverVanishes(t *testing.T) {
	r := newRig(t)
	body := []chat.Message{user("hello")}
	r.say(t, body, "L2", "A1")
	_, again := r.say(t, body, "L1", "A1'")
	wantView(t, again, "user:hello")
	h, _ := r.say(t, []chat.Message{user("u1")}, "L2", "A1")
	r.say(t, with(h, user("u2")), "L1", "A2")
	_, edited := r.say(t, with(h, user("u2 edited")), "L0", "A2'")
	wantView(t, edited, "user:u1", "assistant:[A1]", "user:u2 edited")
}

// A retry is a sibling; what follows it sees one of them.
func TestB5_RetryIsSiblingNotDuplicate(t *testing.T) {
	r := newRig(t)
	h, first := r.say(t, []chat.Message{user("u1")}, "L0", "A1")
	var last []chat.Message
	sessions := map[string]bool{}
	for _, text := range []string{"A2", "A2'", "A2''"} {
		var b begun
		last, b = r.say(t, with(h, user("u2")), "L1", text)
		sessions[b.Session] = true
		if b.Parent != first.ID {
			t.Errorf("%s follows %s", text, b.Parent)
		}
	}
	if len(sessions) != 3 {
		t.Errorf("%d sessions: each retry of an answered turn forks", len(sessions))
	}
	_, next := r.say(t, with(last, user("u3")), "L1", "A3")
	wantView(t, next, "user:u1", "assistant:[A1]", "user:u2", "assistant:A2''", "user:u3")
}

// Turns of the entry adapter are turns like any other.
func TestB6_EntryAdapterTurnsAreRecorded(t *testing.T) {
	r := newRig(t)
	h := []chat.Message{}
	var b begun
	for _, s := range []struct{ label, q, a string }{{"L0", "q0", "a0"}, {"L2", "q1", "a1"}, {"L1", "q2", "a2"}, {"L0", "q3", "a3"}} {
		h, b = r.say(t, with(h, user(s.q)), s.label, s.a)
	}
	wantView(t, b, "user:q0", "assistant:a0", "user:q1", "assistant:[a1]", "user:q2", "assistant:[a2]", "user:q3")
}

// A clock in the system prompt changes the head, not the history.
func TestB7_SystemTextIsNotIdentity(t *testing.T) {
	r := newRig(t)
	h, first := r.say(t, []chat.Message{chat.Text(chat.System, "it is 10:00"), user("u1")}, "L2", "A1")
	h[0] = chat.Text(chat.System, "it is 10:05")
	b := r.begin(t, me, with(h, user("u2")), "L2")
	want := []string{"system:SYS \n\nit is 10:05", "user:u1", "assistant:A1", "user:u2"}
	if diff := cmp.Diff(want, lines(b.view)); diff != "" {
		t.Error(diff)
	}
	if b.Session != first.Session {
		t.Error("the session was lost")
	}
}

// A tool result that is followed by the user's words, and a loop that is left,
// give views without half transactions.
func TestB8_HalfToolTransactionsAreMadeWhole(t *testing.T) {
	for _, c := range []struct {
		name  string
		given []chat.Message
		own   []string
	}{
		{"left", nil, []string{"user:u1", "assistant:let me see", "user:u2"}},
		{"answered", []chat.Message{result("c1", "r1"), result("c2", "r2")}, []string{"user:u1", "assistant:let me see call c1 call c2", "tool:r1 for c1", "tool:r2 for c2", "user:u2"}},
		{"half answered", []chat.Message{result("c2", "r2")}, []string{"user:u1", "assistant:let me see call c2", "tool:r2 for c2", "user:u2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			b := r.begin(t, me, []chat.Message{user("u1")}, "L1")
			asks := calls("c1", "c2")
			asks.Parts = said("let me see").Parts
			r.finish(t, b, asks)
			h := with(append([]chat.Message{user("u1"), asks}, c.given...), user("u2"))
			wantView(t, r.begin(t, me, h, "L1"), c.own...)
			wantView(t, r.begin(t, me, h, "L2"), "user:u1", "assistant:[let me see]", "user:u2")
			// The call itself still waits: its results continue it.
			late := r.begin(t, me, []chat.Message{user("u1"), asks, result("c1", "r1"), result("c2", "r2")}, "")
			wantView(t, late, "user:u1", "assistant:let me see call c1 call c2", "tool:r1 for c1", "tool:r2 for c2")
			if late.ID != b.ID {
				t.Error("the results did not continue the turn that called")
			}
		})
	}
}

// Without a model's summary the bounded extract stands in, recorded as such; there
// is never an empty wrapper.
func TestB9_FailedSummaryLeavesAnExtract(t *testing.T) {
	r := newRig(t)
	h, first := r.say(t, []chat.Message{user("u1")}, "L2", "the  answer\nin two lines")
	_, second := r.say(t, with(h, user("u2")), "L1", "A2")
	wantView(t, second, "user:u1", "assistant:[the answer in two lines]", "user:u2")
	if r.summarize(t, first.ID, "late") {
		t.Error("a summary came after a view had used another")
	}
	stored, err := r.log.Turn(ctx, me.Owner, first.ID)
	if err != nil || stored.SummarySource != record.SummaryExtract || !stored.SummaryFinal || stored.Summary != "the answer in two lines" {
		t.Errorf("%+v %v", stored, err)
	}
	quiet := r.begin(t, me, []chat.Message{user("q")}, "L1")
	r.finish(t, quiet, chat.Message{Role: chat.Assistant})
	next := r.begin(t, me, []chat.Message{user("q"), {Role: chat.Assistant}, user("q2")}, "L2")
	wantView(t, next, "user:q", "user:q2")
}

// History that no record owns is shown to everybody.
func TestB10_ImportedHistoryIsShownToAll(t *testing.T) {
	r := newRig(t)
	h, _ := r.say(t, []chat.Message{user("u"), said("imported"), user("u2")}, "L2", "A2")
	_, b := r.say(t, with(h, user("u3")), "L1", "A3")
	wantView(t, b, "user:u", "assistant:imported", "user:u2", "assistant:[A2]", "user:u3")
}

// What was not delivered is in no view, and what is retried after it stays in its
// place.
func TestInterruptedTurnIsNoHistory(t *testing.T) {
	r := newRig(t)
	h, first := r.say(t, []chat.Message{user("u1")}, "L2", "A1")
	broken := r.begin(t, me, with(h, user("u2")), "L2")
	if err := r.log.Close(ctx, broken.Turn, record.StatusInterrupted, "engine failed", answer("L2", said("half"))); err != nil {
		t.Fatal(err)
	}
	_, again := r.say(t, with(h, user("u2")), "L2", "A2")
	wantView(t, again, "user:u1", "assistant:A1", "user:u2")
	if again.Session != first.Session {
		t.Error("the retry left the session")
	}
	_, cut := r.say(t, with(h, user("u2"), said("half"), user("u3")), "L1", "A3")
	wantView(t, cut, "user:u1", "assistant:[A1]", "user:u2", "assistant:half", "user:u3")
}

// Results continue the turn that called also when the arguments come back in
// another layout, after a restart, on the adapter and the contract of the call.
func TestToolResultsContinueTheCaller(t *testing.T) {
	r := newRig(t)
	b := r.begin(t, me, []chat.Message{user("u1")}, "L1")
	r.finish(t, b, calls("c1"))
	resent := calls("c1")
	resent.ToolCalls[0].Arguments = `{"i":0}`
	r.log = session.New(r.store, session.Options{Clock: r.clock})
	more := r.begin(t, me, []chat.Message{chat.Text(chat.System, "new"), user("u1"), resent, result("c1", "r1")}, "")
	if more.ID != b.ID || more.label != "L1" || more.Contract != r.c.Hash() {
		t.Errorf("%s on %s is not %s", more.ID, more.label, b.ID)
	}
	if got := more.view[2].ToolCalls[0].Arguments; got != `{"i": 0}` {
		t.Errorf("the view has the client's arguments %s, not the served ones", got)
	}
	r.finish(t, more, said("A1"))
	h := []chat.Message{user("u1"), resent, result("c1", "r1"), said(" A1\n"), user("u2")}
	wantView(t, r.begin(t, me, h, "L1"), "user:u1", "assistant: call c1", "tool:r1 for c1", "assistant:A1", "user:u2")
	wantView(t, r.begin(t, me, h, "L2"), "user:u1", "assistant:[A1]", "user:u2")
}

func TestInterruptedToolLoopWaitsAgain(t *testing.T) {
	r := newRig(t)
	b := r.begin(t, me, []chat.Message{user("u1")}, "L1")
	r.finish(t, b, calls("c1"))
	h := []chat.Message{user("u1"), calls("c1"), result("c1", "r1")}
	broken := r.begin(t, me, h, "")
	if err := r.log.Close(ctx, broken.Turn, record.StatusInterrupted, "engine failed"); err != nil {
		t.Fatal(err)
	}
	if broken.Status != record.StatusAwaiting || len(broken.Trace) != 1 {
		t.Errorf("%s with %d messages", broken.Status, len(broken.Trace))
	}
	again := r.begin(t, me, h, "")
	wantView(t, again, "user:u1", "assistant: call c1", "tool:r1 for c1")
	if again.ID != b.ID {
		t.Error("the retry opened another turn")
	}
}

// Two identical requests at once both go on, each as its own turn.
func TestRetriedToolResultsAreSiblings(t *testing.T) {
	r := newRig(t)
	b := r.begin(t, me, []chat.Message{user("u1")}, "L1")
	r.finish(t, b, calls("c1"))
	h := []chat.Message{user("u1"), calls("c1"), result("c1", "r1")}
	pos, err := r.log.Resolve(ctx, me, h)
	if err != nil {
		t.Fatal(err)
	}
	one, two := r.begin(t, me, h, ""), r.begin(t, me, h, "")
	late, err := r.log.Begin(ctx, pos, session.Opening{}) // resolved before both
	if err != nil {
		t.Fatal(err)
	}
	if one.ID != b.ID || two.ID == b.ID || late.ID == b.ID || late.ID == two.ID || late.Contract != b.Contract {
		t.Errorf("%s %s %s of %s", one.ID, two.ID, late.ID, b.ID)
	}
	r.finish(t, one, said("A"))
	r.finish(t, two, said("B"))
	wantView(t, r.begin(t, me, with(h, said("B"), user("u2")), "L1"), "user:u1", "assistant: call c1", "tool:r1 for c1", "assistant:B", "user:u2")
}

func TestOrphanAndSelfContainedToolTurns(t *testing.T) {
	r := newRig(t)
	_, err := r.log.Resolve(ctx, me, []chat.Message{user("u1"), result("nobody", "r")})
	if errs.CodeOf(err) != errs.OrphanToolTurn {
		t.Errorf("orphan: %v", err)
	}
	imported := r.begin(t, me, []chat.Message{user("u0"), said("a0"), user("u1"), calls("x1"), result("x1", "r")}, "L2")
	wantView(t, imported, "user:u0", "assistant:a0", "user:u1", "assistant: call x1", "tool:r for x1")
	if imported.Text() != "u1" || imported.pos.Continue != nil {
		t.Errorf("routed on %q", imported.Text())
	}
	b := r.begin(t, me, []chat.Message{user("u1")}, "L1")
	r.finish(t, b, calls("c1", "c2"))
	for _, bad := range [][]chat.Message{{result("c1", "r")}, {result("c1", "r"), result("c1", "r"), result("c2", "r")}} {
		_, err := r.log.Resolve(ctx, me, append([]chat.Message{user("u1"), calls("c1", "c2")}, bad...))
		if errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%d results: %v", len(bad), err)
		}
	}
	// A result alone finds its turn by the call id; other owners and keys find nothing.
	bare := []chat.Message{result("c1", "r"), result("c2", "r")}
	pos, err := r.log.Resolve(ctx, me, bare)
	if err != nil || pos.Continue == nil || pos.Continue.ID != b.ID {
		t.Errorf("by id: %+v %v", pos.Continue, err)
	}
	for _, w := range []session.Where{{Owner: "bob", Scope: "key"}, {Owner: "ann", Scope: "other"}} {
		if _, err := r.log.Resolve(ctx, w, bare); errs.CodeOf(err) != errs.OrphanToolTurn {
			t.Errorf("%+v: %v", w, err)
		}
	}
}

// Engines that number their calls from zero must not join two conversations.
func TestEqualCallIDsDoNotJoinConversations(t *testing.T) {
	r := newRig(t)
	for _, q := range []string{"first", "second"} {
		b := r.begin(t, me, []chat.Message{user(q)}, "L1")
		r.finish(t, b, calls("call_0"))
	}
	if _, err := r.log.Resolve(ctx, me, []chat.Message{result("call_0", "r")}); errs.CodeOf(err) != errs.OrphanToolTurn {
		t.Errorf("an ambiguous result was taken: %v", err)
	}
	for _, q := range []string{"first", "second"} {
		got := r.begin(t, me, []chat.Message{user(q), calls("call_0"), result("call_0", "r")}, "")
		wantView(t, got, "user:"+q, "assistant: call call_0", "tool:r for call_0")
	}
	other := r.begin(t, me, []chat.Message{user("third"), calls("call_0"), result("call_0", "r")}, "L2")
	wantView(t, other, "user:third", "assistant: call call_0", "tool:r for call_0")
}
