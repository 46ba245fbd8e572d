package session_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/session"
)

// asking begins and answers a request that keeps what it asked.
func (r *rig) asking(t *testing.T, w session.Where, messages []chat.Message, asked, label string, m chat.Message) begun {
	t.Helper()
	pos, err := r.log.Resolve(ctx, w, messages)
	if err != nil {
		t.Fatal(err)
	}
	turn, err := r.log.Begin(ctx, pos, session.Opening{Contract: r.c.Hash(), Asked: &record.Asked{API: "t", Fields: []byte(asked)}})
	if err != nil {
		t.Fatal(err)
	}
	b := begun{Turn: turn, pos: pos, label: label}
	b.view = r.view(t, pos.History, turn, label)
	r.finish(t, b, m)
	return b
}

func at(turn string, trace int) session.Where {
	return session.Where{Owner: me.Owner, Scope: me.Scope, ParentTurn: turn, Trace: trace}
}

func TestStepsOfATurn(t *testing.T) {
	r := newRig(t)
	first := r.asking(t, me, []chat.Message{user("u1")}, `{"n":1}`, "L1", calls("c1"))
	second := r.asking(t, at(first.ID, 1), []chat.Message{result("c1", "r1")}, `{"n":2}`, "L1", said("A1"))
	if second.ID != first.ID {
		t.Fatalf("the results went to %s, not %s", second.ID, first.ID)
	}
	if err := r.log.Delete(ctx, me.Owner, first.ID, "x"); err != nil {
		t.Fatal(err)
	}
	_, steps, err := r.log.Steps(ctx, me.Owner, first.ID)
	if err != nil || len(steps) != 2 {
		t.Fatalf("%d steps: %v", len(steps), err)
	}
	got := []string{string(steps[0].Asked.Fields), string(steps[0].Status), steps[0].Message().ToolCalls[0].ID,
		string(steps[1].Asked.Fields), string(steps[1].Status), steps[1].Message().Text(), steps[1].Results[0].Text(), steps[1].Deleted[0]}
	if d := cmp.Diff([]string{`{"n":1}`, "awaiting_tools", "c1", `{"n":2}`, "delivered", "A1", "r1", "x"}, got); d != "" {
		t.Error(d)
	}
	if steps[0].Trace != 1 || steps[1].Trace != 3 {
		t.Errorf("traces of %d and %d", steps[0].Trace, steps[1].Trace)
	}
	if n, _ := second.Step(); n != 1 {
		t.Errorf("step %d", n)
	}
	if _, _, err := r.log.Steps(ctx, "somebody else", first.ID); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("a foreign turn: %v", err)
	}
}

// Two conversations of equal words and call ids stay apart when the turn is named, and a
// turn that has gone on gets a sibling.
func TestNamedCallsAreAnsweredWhereTheyWereMade(t *testing.T) {
	r := newRig(t)
	one := r.asking(t, me, []chat.Message{user("u1")}, `{}`, "L1", calls("c1"))
	two := r.asking(t, me, []chat.Message{user("u1")}, `{}`, "L2", calls("c1"))
	if b := r.asking(t, at(one.ID, 1), []chat.Message{calls("c1"), result("c1", "r1")}, `{}`, "L1", said("A1")); b.ID != one.ID {
		t.Errorf("the results went to %s", b.ID)
	}
	if b := r.asking(t, at(two.ID, 1), []chat.Message{result("c1", "r2")}, `{}`, "L2", said("A2")); b.ID != two.ID {
		t.Errorf("the results went to %s", b.ID)
	}
	again := r.asking(t, at(one.ID, 1), []chat.Message{result("c1", "r3")}, `{}`, "L1", said("A3"))
	if again.ID == one.ID || again.Revision.Name != "L1" {
		t.Errorf("a turn that has ended went on: %s by %s", again.ID, again.Revision.Name)
	}
	wantView(t, again, "user:u1", "assistant: call c1", "tool:r3 for c1")
}

// B8: results followed by the user's words leave the loop; nothing is orphaned, whoever
// answers.
func TestB8_NamedCallsThatAreLeftOrphanNothing(t *testing.T) {
	for _, c := range []struct {
		label string
		given []chat.Message
		want  []string
	}{
		{"L2", []chat.Message{result("c1", "r1"), user("u2")}, []string{"user:u1", "user:u2"}},
		{"L1", []chat.Message{result("c1", "r1"), user("u2")}, []string{"user:u1", "assistant: call c1", "tool:r1 for c1", "user:u2"}},
		{"L1", []chat.Message{user("u2")}, []string{"user:u1", "user:u2"}},
	} {
		r := newRig(t)
		first := r.asking(t, me, []chat.Message{user("u1")}, `{}`, "L1", calls("c1"))
		b := r.asking(t, at(first.ID, 1), c.given, `{}`, c.label, said("A2"))
		wantView(t, b, c.want...)
		if b.Session != first.Session {
			t.Errorf("it went to another session")
		}
	}
}

func TestNamedCallsOfOthersDoNotExist(t *testing.T) {
	r := newRig(t)
	first := r.asking(t, me, []chat.Message{user("u1")}, `{}`, "L1", calls("c1"))
	for _, w := range []session.Where{
		{Owner: "bob", Scope: "key", ParentTurn: first.ID, Trace: 1}, {Owner: "ann", Scope: "other", ParentTurn: first.ID, Trace: 1}, at(first.ID, 2),
	} {
		if _, err := r.log.Resolve(ctx, w, []chat.Message{result("c1", "r")}); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%+v: %v", w, err)
		}
	}
}
