package local

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"macaron/internal/backend"
	"macaron/internal/chat"
)

// cut splits s into random pieces, as tokens do.
func cut(t *rapid.T, s string) []string {
	var out []string
	for len(s) > 0 {
		n := rapid.IntRange(1, min(len(s), 7)).Draw(t, "cut")
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}

// read gives the text and the calls of an answer that comes in parts.
func read(parts []string, names ...string) (text string, calls []chat.ToolCallDelta) {
	var tools []chat.ToolDef
	for _, n := range names {
		tools = append(tools, chat.ToolDef{Name: n})
	}
	c := newCallReader(tools, func() string { return "id" })
	take := func(list []piece) {
		for _, p := range list {
			if p.call != nil {
				calls = append(calls, *p.call)
			}
			text += p.text
		}
	}
	for _, p := range parts {
		take(c.push(p))
	}
	take(c.flush())
	return text, calls
}

func TestCallsAreFoundHoweverTheTextIsCut(t *testing.T) {
	call := func(i int, name, arguments string) chat.ToolCallDelta {
		return chat.ToolCallDelta{Index: i, ID: "id", Name: name, Arguments: arguments}
	}
	for name, c := range map[string]struct {
		in, text string
		calls    []chat.ToolCallDelta
	}{
		"text":          {"just <tool and < text", "just <tool and < text", nil},
		"one":           {`<tool_call>{"name": "add", "arguments": {"a": 1, "b":  "x</b>"}}</tool_call>`, "", []chat.ToolCallDelta{call(0, "add", `{"a": 1, "b":  "x</b>"}`)}},
		"text and two":  {"Sure. <tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call>\n<tool_call>\n{\"name\":\"sub\",\"arguments\":{\"q\":[1,{}]}}\n</tool_call>\n", "Sure. ", []chat.ToolCallDelta{call(0, "add", "{}"), call(1, "sub", `{"q":[1,{}]}`)}},
		"no arguments":  {`<tool_call>{"name": "add"}</tool_call>`, "", []chat.ToolCallDelta{call(0, "add", "{}")}},
		"unclosed":      {`<tool_call>{"name": "add", "arguments": {"a": 1}}`, "", []chat.ToolCallDelta{call(0, "add", `{"a": 1}`)}},
		"not offered":   {`<tool_call>{"name": "rm", "arguments": {}}</tool_call>`, `<tool_call>{"name": "rm", "arguments": {}}</tool_call>`, nil},
		"malformed":     {`a <tool_call>{"name": "add", "arguments": {"a": }}</tool_call> b`, `a <tool_call>{"name": "add", "arguments": {"a": }}</tool_call> b`, nil},
		"no object":     {`<tool_call>{"name": "add", "arguments": [1]}</tool_call>`, `<tool_call>{"name": "add", "arguments": [1]}</tool_call>`, nil},
		"cut short":     {`ok <tool_call>{"name": "ad`, `ok <tool_call>{"name": "ad`, nil},
		"mark cut":      {`ok <tool_ca`, `ok <tool_ca`, nil},
		"after the end": {`<tool_call>{"name": "add"}</tool_call> done`, "done", []chat.ToolCallDelta{call(0, "add", "{}")}},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				text, calls := read(cut(t, c.in), "add", "sub")
				if diff := cmp.Diff(c.text, text) + cmp.Diff(c.calls, calls); diff != "" {
					t.Fatal(diff)
				}
			})
		})
	}
}

// A call of a grammar's form is told from its name on: of each push all that is certain comes out
// at once, and the pieces are the call.
func TestSureCallsStream(t *testing.T) {
	text := "Now: " + callName + `add` + callArguments + `{"a": "}\"{", "b": [{}]}` + callEnd + "\n" + callName + `sub` + callArguments + `{}` + callEnd
	rapid.Check(t, func(t *rapid.T) {
		c := newCallReader([]chat.ToolDef{{Name: "add"}, {Name: "sub"}}, func() string { return "id" })
		c.sure = true
		var all backend.Collected
		const first = `{"a": "}\"{", "b": [{}]}`
		seen := ""
		take := func(list []piece) {
			for _, p := range list {
				all.Add(chat.Event{Text: p.text, ToolCall: p.call})
			}
		}
		for _, part := range cut(t, text) {
			take(c.push(part))
			seen += part
			if _, told, begun := strings.Cut(seen, callArguments); begun && strings.HasPrefix(first, told) && all.Message().ToolCalls[0].Arguments != told {
				t.Fatalf("of %q came %q", told, all.Message().ToolCalls[0].Arguments)
			}
		}
		take(c.flush())
		want := []chat.ToolCall{{ID: "id", Name: "add", Arguments: `{"a": "}\"{", "b": [{}]}`}, {ID: "id", Name: "sub", Arguments: "{}"}}
		if diff := cmp.Diff(want, all.Message().ToolCalls); diff != "" || all.Text() != "Now: " || c.cut {
			t.Fatalf("%s %q", diff, all.Text())
		}
	})
}

func TestWithoutToolsEverythingIsTextAtOnce(t *testing.T) {
	c := newCallReader(nil, nil)
	if got := c.push("<tool_call>"); len(got) != 1 || got[0].text != "<tool_call>" {
		t.Errorf("%+v", got)
	}
}

// TestStopsAcrossBorders: the output is what stands before the first stop to be complete, however
// the text is cut, and nothing is held back that cannot begin a stop.
func TestStopsAcrossBorders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("abé\n")), 0, 40, -1).Draw(t, "text")
		list := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune("abé\n")), 1, 4, -1), 0, 3).Draw(t, "stops")
		got, stopped := filtered(cut(t, text), list)
		if want, met := beforeStop(text, list); got != want || stopped != met {
			t.Fatalf("text %q, stops %q: got %q (%v), want %q (%v)", text, list, got, stopped, want, met)
		}
	})
}

// TestALongerStopIsNotWaitedFor: a stop within one that began before ends the text, in one piece
// and in its letters; of two that end together the longer one counts.
func TestALongerStopIsNotWaitedFor(t *testing.T) {
	for _, c := range []struct {
		text, want string
		stops      []string
	}{
		{"\néa", "\n", []string{"é", "\néa"}},
		{"\néa", "\n", []string{"\néa", "é"}},
		{"xab", "x", []string{"b", "ab"}},
	} {
		if got, stopped := filtered([]string{c.text}, c.stops); got != c.want || !stopped {
			t.Errorf("%q at %q: %q (%v)", c.text, c.stops, got, stopped)
		}
		if got, stopped := filtered(strings.Split(c.text, ""), c.stops); got != c.want || !stopped {
			t.Errorf("%q in parts at %q: %q (%v)", c.text, c.stops, got, stopped)
		}
	}
}

// filtered is what a filter lets through of a text in parts.
func filtered(parts, stops []string) (got string, stopped bool) {
	f := stopFilter{stops: stops}
	for _, p := range parts {
		out, stopped := f.push(p)
		if got += out; stopped {
			return got, true
		}
	}
	return got + f.flush(), false
}

// beforeStop finds the first stop end by end.
func beforeStop(text string, stops []string) (string, bool) {
	for end := range len(text) + 1 {
		longest := -1
		for _, s := range stops {
			if strings.HasSuffix(text[:end], s) {
				longest = max(longest, len(s))
			}
		}
		if longest >= 0 {
			return text[:end-longest], true
		}
	}
	return text, false
}

func FuzzCalls(f *testing.F) {
	f.Add(`x <tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>`, 3)
	f.Add("<tool_call><tool_call></tool_call>", 1)
	f.Fuzz(func(t *testing.T, in string, step int) {
		var parts []string
		step = max(1, step%10)
		for s := in; len(s) > 0; {
			n := min(step, len(s))
			parts, s = append(parts, s[:n]), s[n:]
		}
		text, calls := read(parts, "add")
		whole, wholeCalls := read([]string{in}, "add")
		if text != whole || !cmp.Equal(calls, wholeCalls) {
			t.Fatalf("in parts %q %v, at once %q %v", text, calls, whole, wholeCalls)
		}
		if len(calls) == 0 && text != in {
			t.Fatalf("text changed: %q to %q", in, text)
		}
	})
}
