package local

import (
	"encoding/json"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/chat"
)

func TestAForcedCallBegins(t *testing.T) {
	tools := []chat.ToolDef{
		{Name: "none"}, {Name: "empty", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
		{Name: "city", Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)},
		{Name: "odd", Parameters: json.RawMessage(`{"required":"city"}`)},
	}
	for name, want := range map[string]string{
		"none": `<tool_call>{"name": "none", "arguments": {`, "empty": `<tool_call>{"name": "empty", "arguments": {`,
		"city": `<tool_call>{"name": "city", "arguments": {"`, "odd": `<tool_call>{"name": "odd", "arguments": {`,
	} {
		r := &backend.Request{Tools: tools, ToolChoice: chat.ToolChoice{Mode: "function", Name: name}}
		if got := forced(r); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := forced(&backend.Request{Tools: tools, ToolChoice: chat.ToolChoice{Mode: "required"}}); got != `<tool_call>{"name": "` {
		t.Errorf("required: %q", got)
	}
	if got := forced(&backend.Request{Tools: tools}); got != "" {
		t.Errorf("nothing is forced: %q", got)
	}
}
