package responses

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/wire/wiretest"
)

// Every field that the SDK publishes is honoured, refused or reported.
func TestPublishedFields(t *testing.T) {
	base := map[string]string{"model": `"macaron"`, "input": `"x"`, "tools": `[{"type":"function","name":"f"}]`}
	found := wiretest.Published(t, base, map[string]string{
		"access_programs": `["a"]`, "background": "true", "background_options": `{"a":1}`, "context_management": `[{"type":"compaction"}]`, "conversation": `"conv_01KDYAK348041061050RAHA58P"`,
		"image": `{"a":1}`, "include": `["reasoning.encrypted_content"]`, "input": `"y"`, "instructions": `"be brief"`, "max_output_tokens": "7", "max_tool_calls": "3", "metadata": `{"k":"v"}`,
		"model": `"macaron/L2"`, "moderation": `{"model":"m"}`, "parallel_tool_calls": "false", "previous_response_id": `"resp_x"`, "prompt": `{"id":"p"}`, "prompt_cache_key": `"k"`,
		"prompt_cache_options": `{"a":1}`, "prompt_cache_retention": `"24h"`, "reasoning": `{"effort":"low"}`, "safety_identifier": `"s"`, "service_tier": `"flex"`, "store": "false",
		"stream": "true", "stream_options": `{"include_obfuscation":false}`, "temperature": "0.5", "text": `{"format":{"type":"json_object"}}`, "tool_choice": `"required"`,
		"tools": `[{"type":"function","name":"g"}]`, "top_logprobs": "3", "top_p": "0.5", "truncation": `"auto"`, "user": `"u"`,
	}, func(b []byte) (wiretest.Decoded, error) {
		r, err := decode(b)
		if err != nil {
			return wiretest.Decoded{}, err
		}
		d := wiretest.Decoded{Ignored: r.ignored}
		r.ignored = nil
		d.Request = *r
		return d, nil
	})
	for name, how := range map[string]string{"text": "honoured", "truncation": "reported", "prompt": "refused", "stream_options": "reported", "top_logprobs": "refused"} {
		if diff := cmp.Diff(how, found[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// So are members of items, parts and tools; those that an output item brings back are not noise.
func TestMembersAreNotDropped(t *testing.T) {
	r, err := decode([]byte(`{"model":"macaron","input":[
		{"type":"message","role":"user","content":[{"type":"input_text","text":"x","prompt_cache_breakpoint":{"mode":"explicit"}},{"type":"input_image","image_url":"data:image/png;base64,AA","detail":"low","x":1}]},
		{"type":"reasoning","id":"rs_1","summary":[],"content":[],"status":"completed","encrypted_content":"secret"},
		{"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"final","content":[{"type":"output_text","text":"y","annotations":[],"logprobs":[]}]},
		{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{}","status":"completed","namespace":"n"},
		{"type":"function_call_output","call_id":"c","output":"r","x":1}],
		"text":{"verbosity":"low","x":1},"tools":[{"type":"function","name":"f","defer_loading":true}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"input[].content[].prompt_cache_breakpoint", "input[].content[].x", "input[].encrypted_content", "input[].phase", "input[].namespace", "input[].x",
		"text.verbosity", "text.x", "tools[].defer_loading"}
	if diff := cmp.Diff(want, []string(r.ignored)); diff != "" {
		t.Error(diff)
	}
}
