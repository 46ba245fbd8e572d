package backend

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/chat"
	"macaron/internal/record"
)

func TestCollectedIsTheWholeAnswer(t *testing.T) {
	var c Collected
	for _, e := range []chat.Event{
		{Start: &chat.Start{PromptTokens: 5, CachedTokens: 2, Engine: chat.Engine{Name: "e"}}},
		{Reasoning: "hm"}, {Text: "Hel"}, {Text: "lo"},
		{ToolCall: &chat.ToolCallDelta{Index: 0, ID: "a", Name: "f", Arguments: `{"x"`}},
		{ToolCall: &chat.ToolCallDelta{Index: 1, ID: "b", Name: "g"}},
		{ToolCall: &chat.ToolCallDelta{Index: 0, Arguments: `:1}`}},
		{ToolCall: &chat.ToolCallDelta{Index: 1 << 30, Arguments: `ignored`}},
		{Finish: &chat.Finish{Reason: chat.FinishTools, Usage: chat.Usage{PromptTokens: 5, OutputTokens: 3}, Raw: []int32{1, 2}, Logps: []float32{-1, -2}}},
	} {
		c.Add(e)
	}
	want := chat.Message{Role: chat.Assistant, Reasoning: "hm", Parts: []chat.Part{{Kind: "text", Text: "Hello"}},
		ToolCalls: []chat.ToolCall{{ID: "a", Name: "f", Arguments: `{"x":1}`}, {ID: "b", Name: "g"}}}
	if d := cmp.Diff(want, c.Message()); d != "" {
		t.Error(d)
	}
	var h record.Hop
	b := c.Record(&h)
	if b == nil || len(b.Tokens) != 2 || h.Engine.Name != "e" || h.Usage.OutputTokens != 3 || h.Finish != chat.FinishTools {
		t.Errorf("record %+v, blob %+v", h, b)
	}
}

func TestACutGenerationStillCountsItsPrompt(t *testing.T) {
	var c Collected
	c.Add(chat.Event{Start: &chat.Start{PromptTokens: 9, CachedTokens: 4}})
	c.Add(chat.Event{Text: "half"})
	var h record.Hop
	if b := c.Record(&h); b != nil || h.Usage.PromptTokens != 9 || h.Usage.CachedTokens != 4 || h.Finish != "" {
		t.Errorf("record %+v, blob %+v", h, b)
	}
}
