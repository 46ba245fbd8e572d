package vllm

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden answers anew")

// goldens are requests as clients of vLLM send them.
var goldens = []struct{ name, path, body string }{
	{"completion", "/v1/completions", `{"model":"tiny","prompt":"abc","max_tokens":4,"temperature":0}`},
	{"completion_tokens", "/v1/completions", `{"model":"one","prompt":[100,101,102],"max_tokens":3,"temperature":0,"return_token_ids":true,"logprobs":2}`},
	{"completion_echo", "/v1/completions", `{"prompt":["abc","xy"],"max_tokens":2,"n":2,"seed":7,"echo":true,"logprobs":1}`},
	{"completion_score", "/v1/completions", `{"prompt":"abc","max_tokens":0,"echo":true,"logprobs":0}`},
	{"completion_prompt_logprobs", "/v1/completions", `{"prompt":"ab","max_tokens":1,"temperature":0,"prompt_logprobs":2}`},
	{"completion_stream", "/v1/completions", `{"prompt":"abc","max_tokens":3,"temperature":0,"stream":true,"return_token_ids":true,"logprobs":0,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`},
	{"completion_ids_as_names", "/v1/completions", `{"prompt":"abc","max_tokens":2,"temperature":0,"logprobs":1,"return_tokens_as_token_ids":true}`},
	{"chat", "/v1/chat/completions", `{"model":"two","messages":[{"role":"user","content":"hi"}],"max_tokens":3,"temperature":0,"user":"u","store":true}`},
	{"chat_logprobs", "/v1/chat/completions", `{"messages":[{"role":"user","content":"h"}],"max_tokens":2,"temperature":0,"logprobs":true,"top_logprobs":2,"return_token_ids":true,"prompt_logprobs":0}`},
	{"chat_stream", "/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}],"max_tokens":2,"n":1,"temperature":0,"stream":true,"logprobs":true,"return_token_ids":true,"stream_options":{"include_usage":true}}`},
	{"chat_choice", "/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}],"temperature":0,"structured_outputs":{"choice":["ab","ac","d"]},"logprobs":true,"top_logprobs":3}`},
	{"chat_choice_stream", "/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}],"temperature":0,"guided_choice":["ab","ac","d"],"stream":true}`},
	{"completion_overlay", "/v1/completions", `{"model":"one","prompt":"abcdef","max_tokens":3,"temperature":0,"overlay":{"model":"two","tokens":4}}`},
	{"completion_overlay_own", "/v1/completions", `{"model":"one","prompt":"abcdef","max_tokens":3,"temperature":0,"overlay":{"model":"one","tokens":4}}`},
	{"chat_overlay_stream", "/v1/chat/completions", `{"model":"two","messages":[{"role":"user","content":"hi"}],"max_tokens":2,"temperature":0,"stream":true,"overlay":{"model":"tiny","tokens":9}}`},
	{"tokenize", "/tokenize", `{"model":"tiny","prompt":"a b","return_token_strs":true}`},
	{"tokenize_chat", "/tokenize", `{"messages":[{"role":"user","content":"hi"}],"add_generation_prompt":false}`},
	{"detokenize", "/detokenize", `{"tokens":[100,101]}`},
	{"unknown_model", "/v1/completions", `{"model":"none","prompt":"a"}`},
	{"refused_field", "/v1/completions", `{"prompt":"a","use_beam_search":true}`},
	{"too_long", "/v1/completions", `{"prompt":"` + strings.Repeat("a", 1100) + `"}`},
}

func TestGoldens(t *testing.T) {
	r := newRig(t, nil)
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			status, text := r.post(g.path, g.body)
			compare(t, g.name, fmt.Sprintf("POST %s\n%.300s\n\n%d\n%s", g.path, g.body, status, pretty(t, text)))
		})
	}
	status, text := r.get("/v1/models")
	compare(t, "models", fmt.Sprintf("GET /v1/models\n\n%d\n%s", status, strings.ReplaceAll(pretty(t, text), r.dir, "DIR")))
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Error(d)
	}
}

// pretty writes each JSON text of an answer on lines of its own, fractions to two places: a
// golden is about shapes, and other tests are about bits.
func pretty(t *testing.T, text string) string {
	t.Helper()
	if !strings.HasPrefix(text, "data: ") {
		return indent(t, text)
	}
	var out strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(text), "\n\n") {
		data := strings.TrimPrefix(line, "data: ")
		if data != "[DONE]" {
			data = indent(t, data)
		}
		out.WriteString("data: " + data + "\n")
	}
	return out.String()
}

func indent(t *testing.T, text string) string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	b, err := json.MarshalIndent(rounded(v), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func rounded(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = rounded(v[k])
		}
	case []any:
		for i := range v {
			v[i] = rounded(v[i])
		}
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			x, _ := v.Float64()
			return json.Number(strconv.FormatFloat(math.Round(x*100)/100, 'f', 2, 64))
		}
	}
	return v
}
