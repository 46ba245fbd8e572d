package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"macaron/internal/backend"
	"macaron/internal/chat"
)

// sheet writes down what a composer does.
type sheet struct{ lines []string }

func (s *sheet) open(i int, b block) error {
	s.lines = append(s.lines, fmt.Sprintf("open %d %s %s", i, b.kind, b.id))
	return nil
}

func (s *sheet) write(i int, _ block, piece string) error {
	s.lines = append(s.lines, fmt.Sprintf("%d %s", i, piece))
	return nil
}

func (s *sheet) shut(i int) error {
	s.lines = append(s.lines, fmt.Sprintf("shut %d", i))
	return nil
}

func call(index int, id, arguments string) chat.Event {
	return chat.Event{ToolCall: &chat.ToolCallDelta{Index: index, ID: id, Arguments: arguments}}
}

// Calls that an engine writes by turns come out one after the other, each piece as soon
// as it may.
func TestCallsAreTakenApart(t *testing.T) {
	s := &sheet{}
	c := composer{to: s}
	for _, e := range []chat.Event{
		{Text: "a"}, call(0, "x", `{"k":`), call(1, "y", `{`), {Text: "b"}, call(0, "", `1}`), call(1, "", `}`), {Text: "c"},
	} {
		if err := c.add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.end(); err != nil {
		t.Fatal(err)
	}
	want := []string{"open 0 text ", "0 a", "shut 0", "open 1 tool_use x", `1 {"k":`, "1 1}", "shut 1", "open 2 tool_use y", "2 {", "2 }", "shut 2", "open 3 text ", "3 b", "3 c", "shut 3"}
	if d := cmp.Diff(want, s.lines); d != "" {
		t.Error(d)
	}
}

// Whatever an engine sends, blocks are opened and shut one after the other, and what they
// hold is what the log keeps.
func TestBlocksHoldWhatTheLogKeeps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all backend.Collected
		whole := newWhole(nil, &request{})
		ids := map[int]bool{}
		for range rapid.IntRange(0, 30).Draw(t, "n") {
			e := chat.Event{}
			switch text := rapid.SampledFrom([]string{"{", "}", `"a":1`, "x", ""}).Draw(t, "text"); rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				e.Text = text
			case 1:
				e.Reasoning = text
			default:
				index := rapid.IntRange(0, len(ids)).Draw(t, "index")
				e = call(index, "", text)
				if !ids[index] {
					ids[index] = true
					e.ToolCall.ID = fmt.Sprint("id", index)
				}
			}
			all.Add(e)
			if err := whole.Event(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := whole.compose.end(); err != nil {
			t.Fatal(err)
		}
		var text, reasoning strings.Builder
		args := map[string]string{}
		for _, b := range whole.made {
			switch b.kind {
			case "text":
				text.WriteString(b.text.String())
			case "thinking":
				reasoning.WriteString(b.text.String())
			default:
				if _, twice := args[b.id]; twice {
					t.Fatalf("call %s stands twice", b.id)
				}
				args[b.id] = b.text.String()
			}
		}
		m := all.Message()
		if text.String() != all.Text() || reasoning.String() != m.Reasoning || len(args) != len(m.ToolCalls) {
			t.Fatalf("%q %q %v for %+v", text.String(), reasoning.String(), args, m)
		}
		for _, c := range m.ToolCalls {
			if whole := args[c.ID]; whole != c.Arguments && !(strings.HasPrefix(c.Arguments, whole) && json.Valid([]byte(whole))) {
				t.Fatalf("%v for %+v", args, m)
			}
		}
	})
}

func TestInputIsAnObject(t *testing.T) {
	for arguments, want := range map[string]string{"": "{}", " ": "{}", `{"a": 1}`: `{"a": 1}`, "null": `{"unparsed":"null"}`, `[1]`: `{"unparsed":"[1]"}`, `{"a`: `{"unparsed":"{\"a"}`} {
		if got := string(input(arguments)); got != want {
			t.Errorf("%q gives %s", arguments, got)
		}
	}
}
