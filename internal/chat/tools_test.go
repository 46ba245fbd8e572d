package chat

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestOffered(t *testing.T) {
	tools := []ToolDef{{Name: "a"}, {Name: "b"}}
	for _, c := range []struct {
		choice ToolChoice
		want   []ToolDef
	}{
		{ToolChoice{}, tools},
		{ToolChoice{Mode: "auto"}, tools},
		{ToolChoice{Mode: "required"}, tools},
		{ToolChoice{Mode: "none"}, nil},
		{ToolChoice{Mode: "function", Name: "b"}, tools[1:]},
	} {
		if diff := cmp.Diff(c.want, c.choice.Offered(tools)); diff != "" {
			t.Errorf("%+v: %s", c.choice, diff)
		}
	}
}

func TestFormatted(t *testing.T) {
	for format, want := range map[string]bool{
		"": false, "null": false, `{"type":"text"}`: false, `{"type":"json_object"}`: true, `{}`: true, `[]`: true,
	} {
		if got := (Sampling{ResponseFormat: json.RawMessage(format)}).Formatted(); got != want {
			t.Errorf("%q: %v", format, got)
		}
	}
}

func TestQuoteIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		var back string
		if err := json.Unmarshal([]byte(Quote(s)), &back); err != nil || back != s {
			t.Fatalf("%q became %q: %v", s, back, err)
		}
	})
	if got := Quote("<a & b>"); got != `"<a & b>"` {
		t.Error(got)
	}
}

// What may not be called any more is offered as ever, and not callable.
func TestCallableTools(t *testing.T) {
	all := []ToolDef{{Name: "a"}, {Name: "b"}}
	for _, c := range []struct {
		choice            ToolChoice
		offered, callable int
	}{
		{ToolChoice{}, 2, 2}, {ToolChoice{Mode: "required", Without: []string{"a"}}, 2, 1}, {ToolChoice{Without: []string{"a", "b", "c"}}, 2, 0},
		{ToolChoice{Mode: "function", Name: "a", Without: []string{"a"}}, 1, 0}, {ToolChoice{Mode: "none", Without: []string{"a"}}, 0, 0},
	} {
		if n, m := len(c.choice.Offered(all)), len(c.choice.Callable(all)); n != c.offered || m != c.callable {
			t.Errorf("%+v: %d offered, %d callable", c.choice, n, m)
		}
	}
}
