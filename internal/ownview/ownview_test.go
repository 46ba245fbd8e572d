package ownview

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/record"
)

func defaultContract(t *testing.T) *contract.Contract {
	t.Helper()
	c, err := contract.Load("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func user(s string) []chat.Message { return []chat.Message{chat.Text(chat.User, s)} }
func said(s string) []chat.Message { return []chat.Message{chat.Text(chat.Assistant, s)} }

func TestSummariesMustBeFinal(t *testing.T) {
	c := defaultContract(t)
	past := Turn{ID: "t", Adapter: "L1", User: user("u"), Trace: said("a"), Summary: "s"}
	if _, err := Build(c, []Turn{past}, Turn{User: user("n")}, "L2"); errs.CodeOf(err) != errs.Internal {
		t.Errorf("a summary that may change was shown: %v", err)
	}
	if _, err := Build(c, []Turn{past}, Turn{User: user("n")}, "L1"); err != nil {
		t.Errorf("its own specialist needs no summary: %v", err)
	}
}

// The scaffold is the last message of its own prompt, whose rest is what the next
// turn of the specialist extends; it is in no view.
func TestScaffoldIsInNoView(t *testing.T) {
	c := defaultContract(t)
	done := Turn{ID: "t", Adapter: "L1", User: user("u"), Trace: said("a")}
	prompt, err := SummaryPrompt(c, nil, done)
	if err != nil {
		t.Fatal(err)
	}
	view, err := Build(c, []Turn{done}, Turn{User: user("n")}, "L1")
	if err != nil {
		t.Fatal(err)
	}
	n := len(prompt) - 1
	if diff := cmp.Diff(prompt[:n], view[:n]); diff != "" || prompt[n].Text() != c.SummaryPrompt() {
		t.Error(diff)
	}
	for _, m := range view {
		if strings.Contains(m.Text(), c.SummaryPrompt()) {
			t.Error("the scaffold is in a view")
		}
	}
}

// Build leaves what it was given as it was, and shares no array with it.
func TestBuildChangesNothing(t *testing.T) {
	c := defaultContract(t)
	backing := append(user("u"), said("spare")...)
	past := Turn{ID: "t", Adapter: "L1", User: backing[:1], Trace: said("a")}
	view, err := Build(c, []Turn{past}, Turn{User: user("n")}, "L1")
	if err != nil {
		t.Fatal(err)
	}
	view[1] = chat.Text(chat.User, "changed")
	if backing[0].Text() != "u" || backing[1].Text() != "spare" {
		t.Error("the turn was changed")
	}
}

// Whatever comes in, what goes out is whole: each call is answered right after it,
// each result has its call, and doing it again changes nothing.
func TestSanitizedViewsAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var view []chat.Message
		id := rapid.IntRange(0, 3)
		for range rapid.IntRange(0, 12).Draw(t, "messages") {
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				view = append(view, user("u")...)
			case 1:
				view = append(view, said("a")...)
			case 2:
				m := chat.Message{Role: chat.Assistant}
				for i := range rapid.IntRange(1, 3).Draw(t, "calls") {
					m.ToolCalls = append(m.ToolCalls, chat.ToolCall{ID: fmt.Sprint(i)})
				}
				view = append(view, m)
			default:
				view = append(view, chat.Message{Role: chat.Tool, ToolCallID: fmt.Sprint(id.Draw(t, "id"))})
			}
		}
		clean := Sanitize(view)
		whole(t, clean)
		if diff := cmp.Diff(clean, Sanitize(clean)); diff != "" {
			t.Fatal(diff)
		}
		count := func(all []chat.Message) (n int) {
			for _, m := range all {
				n += len(m.Parts)
			}
			return n
		}
		if count(clean) != count(view) {
			t.Fatal("text was lost")
		}
	})
}

func whole(t *rapid.T, view []chat.Message) {
	for i := 0; i < len(view); i++ {
		if view[i].Role == chat.Tool {
			t.Fatalf("message %d has no call", i)
		}
		open := map[string]bool{}
		for _, c := range view[i].ToolCalls {
			open[c.ID] = true
		}
		for i+1 < len(view) && view[i+1].Role == chat.Tool {
			i++
			if !open[view[i].ToolCallID] {
				t.Fatalf("message %d answers no open call", i)
			}
			delete(open, view[i].ToolCallID)
		}
		if len(open) > 0 {
			t.Fatalf("calls without result before message %d", i)
		}
	}
}

// TestCompactedViewIsGolden: the same records give the same bytes in every build.
func TestCompactedViewIsGolden(t *testing.T) {
	c := defaultContract(t)
	turn := func(i int, adapter string) Turn {
		return Turn{
			ID: fmt.Sprint("t", i), Adapter: adapter, User: user(fmt.Sprintf("question %d, and the whole of it", i)),
			Trace: said(fmt.Sprint("answer ", i)), Summary: fmt.Sprint("summary ", i), Final: true,
		}
	}
	history := []Turn{turn(0, "L2"), turn(1, "L1"), turn(2, "L2"), turn(3, "L2"), turn(4, "L1")}
	history[3].Compacted = []record.Compacted{{Adapter: "L1", Turns: 3, Dropped: 3, Keep: 1}, {Adapter: "L2", Turns: 1, Keep: 10}}
	now := Turn{ID: "now", User: user("next"), Compacted: []record.Compacted{{Adapter: "L2", Turns: 3, Dropped: 1, Keep: 10}}}
	view, err := Build(c, history, now, "L2")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, m := range view[1:] {
		fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Text())
	}
	const golden = `user: [1 earlier turns are left out here.]
assistant: [Understood.]
user: quest ... of it
assistant: [Another specialist answered. In short: summary 1]
user: quest ... of it
assistant: [Another specialist answered. In short: summary 2]
user: question 3, and the whole of it
assistant: answer 3
user: question 4, and the whole of it
assistant: [Another specialist answered. In short: summary 4]
user: next
`
	if diff := cmp.Diff(golden, b.String()); diff != "" {
		t.Error(diff)
	}
	history[2].Final = false
	if _, err := Build(c, history, now, "L2"); errs.CodeOf(err) != errs.Internal {
		t.Errorf("a summary that may change was shown: %v", err)
	}
}

// TestJoinedTurnIsForeignButForOwnParts: of a turn that several answered, everybody sees
// the summary, and a specialist its own words after it.
func TestJoinedTurnIsForeignButForOwnParts(t *testing.T) {
	c := defaultContract(t)
	joined := Turn{ID: "t", User: user("u"), Trace: said("a\n\nb"), Summary: "s", Final: true, Parts: []Part{{"L2", "a"}, {"L1", "b"}}}
	for target, want := range map[string]string{"L2": c.Foreign("s") + "\n\na", "L1": c.Foreign("s") + "\n\nb", "L0": c.Foreign("s")} {
		view, err := Build(c, []Turn{joined}, Turn{User: user("n")}, target)
		if err != nil || len(view) != 4 || view[2].Text() != want {
			t.Errorf("%s: %v, %v", target, view, err)
		}
	}
}
