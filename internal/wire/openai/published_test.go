package openai

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/wire/wiretest"
)

// Every field that the SDK publishes is honoured, refused or reported.
func TestPublishedFields(t *testing.T) {
	base := map[string]string{"model": `"macaron"`, "messages": `[{"role":"user","content":"x"}]`, "stream": "true", "logprobs": "true",
		"tools": `[{"type":"function","function":{"name":"f"}}]`}
	found := wiretest.Published(t, base, map[string]string{
		"audio": `{"voice":"alloy","format":"wav"}`, "frequency_penalty": "1", "function_call": `"auto"`, "functions": `[{"name":"f"}]`, "logit_bias": `{"1":5}`, "logprobs": "false",
		"max_completion_tokens": "7", "max_tokens": "7", "messages": `[{"role":"user","content":"y"}]`, "metadata": `{"k":"v"}`, "modalities": `["text","audio"]`, "model": `"macaron/L2"`,
		"moderation": `{"model":"m"}`, "n": "2", "parallel_tool_calls": "false", "prediction": `{"type":"content","content":"x"}`, "presence_penalty": "1", "prompt_cache_key": `"k"`,
		"prompt_cache_options": `{"a":1}`, "prompt_cache_retention": `"24h"`, "reasoning_effort": `"low"`, "response_format": `{"type":"json_object"}`, "safety_identifier": `"s"`,
		"seed": "1", "service_tier": `"flex"`, "stop": `["x"]`, "store": "true", "stream": "false", "stream_options": `{"include_usage":true}`, "temperature": "0.5",
		"tool_choice": `"required"`, "tools": `[{"type":"function","function":{"name":"g"}}]`, "top_logprobs": "3", "top_p": "0.5", "user": `"u"`, "verbosity": `"low"`,
		"web_search_options": `{"search_context_size":"low"}`,
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
	for name, how := range map[string]string{"temperature": "honoured", "n": "refused", "audio": "refused", "service_tier": "reported", "web_search_options": "reported", "prediction": "reported", "moderation": "reported"} {
		if diff := cmp.Diff(how, found[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// So are members of messages, parts, calls and tools.
func TestMembersAreNotDropped(t *testing.T) {
	r, err := decode([]byte(`{"model":"macaron","messages":[
		{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA","detail":"low","uuid":"stolen"},"uuid":"stolen"},
			{"type":"file","file":{"file_data":"data:application/pdf;base64,AA","filename":"a.pdf"}},{"type":"input_audio","input_audio":{"data":"AA","format":"wav"}}]},
		{"role":"assistant","content":"y","annotations":[{"type":"url_citation"}],"refusal":null,"audio":null,"function_call":null,"reasoning_details":[],"tool_calls":[{"id":"c","type":"function","extra":1,"function":{"name":"f","arguments":"{}","x":1}}]},
		{"role":"tool","tool_call_id":"c","content":"r"}],
		"tools":[{"type":"function","function":{"name":"f","x":1},"y":2}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"messages[].content[].cache_control", "messages[].content[].uuid", "messages[].content[].image_url.uuid", "messages[].annotations",
		"messages[].tool_calls[].extra", "messages[].tool_calls[].function.x", "tools[].y", "tools[].function.x"}
	if diff := cmp.Diff(want, []string(r.ignored)); diff != "" {
		t.Error(diff)
	}
	parts := r.Messages[0].Parts
	for i, want := range map[int]string{
		1: `{"image_url":{"detail":"low","url":"data:image/png;base64,AA"},"type":"image_url"}`,
		2: `{"file":{"file_data":"data:application/pdf;base64,AA","filename":"a.pdf"},"type":"file"}`,
		3: `{"input_audio":{"data":"AA","format":"wav"},"type":"input_audio"}`,
	} {
		if diff := cmp.Diff(want, string(parts[i].Raw)); diff != "" {
			t.Errorf("part %d reaches the engine otherwise: %s", i, diff)
		}
	}
}
