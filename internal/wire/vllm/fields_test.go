package vllm

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Each field of vLLM's requests that is not honoured is taken at the value that asks for
// nothing and refused by name at any other.
func TestFieldsAtRest(t *testing.T) {
	r := newRig(t, nil)
	for _, c := range []struct{ field, rest, other string }{
		{"use_beam_search", "false", "true"}, {"length_penalty", "1.0", "2"}, {"spaces_between_special_tokens", "true", "false"},
		{"truncate_prompt_tokens", "-1", "5"}, {"truncation_side", `"left"`, `"top"`}, {"allowed_token_ids", "[]", "[1]"}, {"bad_words", "[]", `["x"]`}, {"priority", "0", "1"},
		{"kv_transfer_params", "{}", `{"a":1}`}, {"ec_transfer_params", "null", `{"a":1}`}, {"vllm_xargs", "{}", `{"a":1}`},
		{"repetition_detection", "null", `{"max_pattern_size":1}`}, {"thinking_token_budget", "-1", "3"}, {"stream_interval", "1", "4"},
		{"return_token_offsets", "false", "true"}, {"watermarking", "false", "true"}, {"logits_processors", "[]", `["x"]`}, {"logprob_token_ids", "[]", "[1]"},
		{"routed_experts_prompt_start", "0", "1"}, {"mm_payload", `"tensors"`, `"all"`}, {"mm_processor_kwargs", "null", `{"a":1}`}, {"best_of", "1", "2"},
		{"guided_decoding_backend", `"auto"`, `"outlines"`}, {"guided_whitespace_pattern", "null", `" "`}, {"cache_prompt", "true", "false"}, {"id_slot", "-1", "0"},
		{"lora", "null", `[{"scale":"x"}]`}, {"overlay", "null", `{"model":"two"}`}, {"grammar", `""`, `"root = x"`}, {"response_format", `{"type":"text"}`, `{"type":"structural_tag"}`},
		{"n", "1", "0"}, {"temperature", "null", "-1"}, {"top_p", "1", "2"}, {"top_k", "-1", "-2"}, {"min_p", "0", "1.5"}, {"seed", "-3", "1.5"},
		{"stop", "[]", `[""]`}, {"stop_token_ids", "[]", "[-1]"}, {"logit_bias", "{}", `{"x":1}`}, {"min_tokens", "0", "-1"}, {"cache_salt", `"s"`, `""`},
	} {
		for _, path := range []string{"/v1/completions", "/v1/chat/completions"} {
			body := `{"prompt":"a","max_tokens":1,"` + c.field + `":%s}`
			if strings.Contains(path, "chat") {
				body = `{"messages":[{"role":"user","content":"a"}],"max_tokens":1,"` + c.field + `":%s}`
			}
			r.ask(path, fmt.Sprintf(body, c.rest))
			if e := r.refused(path, fmt.Sprintf(body, c.other), http.StatusBadRequest); e.Param == nil || !strings.HasPrefix(*e.Param, c.field) {
				t.Errorf("%s is refused as %+v", c.field, e)
			}
		}
	}
}

// What is only for one of the two, or unknown, is told apart.
func TestFieldsOfEach(t *testing.T) {
	r := newRig(t, nil)
	text, talk := "/v1/completions", "/v1/chat/completions"
	hello := `"messages":[{"role":"user","content":"a"}],"max_tokens":1`
	for _, c := range []struct{ path, body, param string }{
		{text, `{"prompt":"a","suffix":"b"}`, "suffix"},
		{text, `{"prompt":"a","prompt_embeds":"AA"}`, "prompt_embeds"},
		{text, `{"prompt":""}`, "prompt"},
		{text, `{}`, "prompt"},
		{text, `{"prompt":"a","max_tokens":0}`, "max_tokens"},
		{text, `{"prompt":"a","logprobs":21}`, "logprobs"},
		{text, `{"prompt":"a","stream_options":{"include_usage":true}}`, "stream_options"},
		{text, `{"prompt":"a","stream":true,"prompt_logprobs":1}`, "prompt_logprobs"},
		{text, `{"prompt":[1,2,"x"]}`, "prompt[2]"},
		{text, `{"prompt":[99999]}`, "prompt"},
		{text, `{"prompt":"a","min_tokens":5,"max_tokens":3}`, "min_tokens"},
		{text, `{"prompt":"a","structured_outputs":{"regex":"a","choice":["b"]}}`, "structured_outputs"},
		{text, `{"prompt":"a","structured_outputs":{}}`, "structured_outputs"},
		{text, `{"prompt":"a","structured_outputs":{"structural_tag":"{}"}}`, "structured_outputs.structural_tag"},
		{text, `{"prompt":"a","structured_outputs":{"choice":[]}}`, "structured_outputs.choice"},
		{text, `{"prompt":"a","structured_outputs":{"choice":["a"],"backend":"x"}}`, "structured_outputs.backend"},
		{text, `{"prompt":"a","guided_choice":["a"],"structured_outputs":{"choice":["b"]}}`, "structured_outputs.choice"},
		{text, `{"prompt":"ab","guided_choice":["a","b"],"prompt_logprobs":1}`, "prompt_logprobs"},
		{text, `{"prompt":"ab","guided_choice":["a","b"],"echo":true,"logprobs":1}`, "prompt_logprobs"},
		{text, `{"prompt":"ab","logit_bias":{"1000000":1}}`, "logit_bias"},
		{text, `{"prompt":"a","guided_json":"{"}`, "guided_json"},
		{text, `{"prompt":"a","model":"one","lora":[{"name":"two"}]}`, "lora"},
		{text, `{"prompt":"a","lora":[{"name":"two","id":1}]}`, "lora[0]"},
		{text, `{"prompt":"a","lora":[{"id":7}]}`, "lora[0]"},
		{text, `{"prompt":"a","lora":[{"name":"tiny"}]}`, "lora[0]"},
		{text, `{"prompt":"abc","overlay":{"model":"two","tokens":3}}`, "overlay"},
		{text, `{"prompt":"abc","overlay":{"model":"two","tokens":2,"much":1}}`, "overlay"},
		{talk, `{` + hello + `,"top_logprobs":2}`, "top_logprobs"},
		{talk, `{` + hello + `,"continue_final_message":true}`, "continue_final_message"},
		{talk, `{` + hello + `,"chat_template":"x"}`, "chat_template"},
		{talk, `{` + hello + `,"chat_template_kwargs":{"a":1}}`, "chat_template_kwargs"},
		{talk, `{` + hello + `,"add_special_tokens":true}`, "add_special_tokens"},
		{talk, `{` + hello + `,"echo":true}`, "echo"},
		{talk, `{` + hello + `,"functions":[]}`, "functions"},
		{talk, `{` + hello + `,"max_completion_tokens":2}`, "max_tokens"},
		{talk, `{"messages":[]}`, "messages"},
		{talk, `{"messages":[{"role":"x","content":"a"}]}`, "messages[0].role"},
		{talk, `{` + hello + `,"tool_choice":{"type":"function","function":{"name":"f"}},"tools":[]}`, "tool_choice"},
		{"/tokenize", `{"prompt":["a","b"]}`, "prompt"},
		{"/tokenize", `{}`, "prompt"},
		{"/detokenize", `{}`, "tokens"},
		{"/detokenize", `{"tokens":[259]}`, "tokens[0]"},
		{"/v1/embeddings", `{"input":"a"}`, "model"},
		{"/v1/load_lora_adapter", `{"lora_name":"x","lora_path":"/etc"}`, "lora_path"},
		{"/v1/load_lora_adapter", `{"lora_name":"x","path":"y"}`, "path"},
	} {
		status := http.StatusBadRequest
		if c.param == "lora_path" || c.param == "lora[0]" && strings.Contains(c.body, "7") || strings.Contains(c.body, `"tiny"`) {
			status = http.StatusNotFound
		}
		if e := r.refused(c.path, c.body, status); e.Param == nil || *e.Param != c.param {
			t.Errorf("%s %s: %+v", c.path, c.body, e)
		}
	}
	a := r.ask(talk, `{`+hello+`,"user":"u","metadata":{"a":"b"},"frobnicate":1,"stream_options":null}`)
	if got := strings.Join(a.Macaron.Ignored, " "); got != "frobnicate metadata" {
		t.Errorf("ignored %q", got)
	}
}
