package vllm

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const hi = `"messages":[{"role":"user","content":"hi"}]`

// A stream, put together, is the whole answer.
func TestStreamsAddUpToTheWhole(t *testing.T) {
	r := newRig(t, nil)
	for _, c := range []struct{ path, body string }{
		{"/v1/completions", `{"prompt":["abc","def"],"n":2,"seed":1,"max_tokens":6,"echo":true,"logprobs":1,"return_token_ids":true%s}`},
		{"/v1/chat/completions", `{` + hi + `,"n":3,"seed":5,"max_tokens":8,"logprobs":true,"return_token_ids":true%s}`},
		{"/v1/chat/completions", `{"model":"one",` + hi + `,"guided_choice":["yes","no"],"seed":2,"return_token_ids":true%s}`},
	} {
		whole := r.ask(c.path, fmt.Sprintf(c.body, ""))
		texts, ids, ends := make([]string, len(whole.Choices)), make([][]int32, len(whole.Choices)), make([]string, len(whole.Choices))
		for _, k := range r.chunks(c.path, fmt.Sprintf(c.body, `,"stream":true,"stream_options":{"include_usage":true}`)) {
			for _, ch := range k.Choices {
				texts[ch.Index] += ch.Text
				if ch.Delta.Content != nil {
					texts[ch.Index] += *ch.Delta.Content
				}
				ids[ch.Index] = append(ids[ch.Index], ch.TokenIDs...)
				if ch.FinishReason != nil {
					ends[ch.Index] += *ch.FinishReason
				}
			}
			if k.Usage != nil {
				k.Usage.Details = whole.Usage.Details // the second one finds more in the cache
				if d := cmp.Diff(whole.Usage, k.Usage); d != "" {
					t.Error(d)
				}
			}
		}
		for i, ch := range whole.Choices {
			text := ch.Text
			if ch.Message.Content != nil {
				text = *ch.Message.Content
			}
			if text != texts[i] || !slices.Equal(ch.TokenIDs, ids[i]) || *ch.FinishReason != ends[i] || ch.Index != i {
				t.Errorf("%s choice %d: %q %v %s, streamed %q %v %s", c.path, i, text, ch.TokenIDs, *ch.FinishReason, texts[i], ids[i], ends[i])
			}
		}
	}
}

// Several choices of one prompt read it once.
func TestChoicesShareThePrompt(t *testing.T) {
	r := newRig(t, nil)
	before := r.eng.Stats().PromptTokens
	a := r.ask("/v1/completions", `{"prompt":"`+strings.Repeat("x", 320)+`","n":4,"max_tokens":2,"seed":3}`)
	computed := r.eng.Stats().PromptTokens - before
	if a.Usage.PromptTokens != 320 || computed > 320+3*32 {
		t.Errorf("%d tokens of prompts were computed for four choices of %d", computed, a.Usage.PromptTokens)
	}
	alone := r.ask("/v1/completions", `{"prompt":"`+strings.Repeat("x", 320)+`","max_tokens":2,"seed":6}`)
	if a.Choices[3].Text != alone.Choices[0].Text {
		t.Errorf("the fourth choice of seed 3 is %q, the first of seed 6 %q", a.Choices[3].Text, alone.Choices[0].Text)
	}
	if alone.Usage.Details.CachedTokens == 0 {
		t.Error("the prompt was read again")
	}
	salted := r.ask("/v1/completions", `{"prompt":"`+strings.Repeat("x", 320)+`","max_tokens":2,"seed":6,"cache_salt":"mine"}`)
	if salted.Usage.Details.CachedTokens != 0 || salted.Choices[0].Text != alone.Choices[0].Text {
		t.Errorf("salted: %d cached, %q", salted.Usage.Details.CachedTokens, salted.Choices[0].Text)
	}
}

// What ends an answer is told, and is or is not part of it.
func TestEndsOfAnswers(t *testing.T) {
	r := newRig(t, nil)
	x := 3 + int('x') // the tiny vocabulary is three control tokens and the bytes
	for _, c := range []struct {
		fields, text, reason string
		stop                 any
	}{
		{`"max_tokens":3`, "xxx", "length", nil},
		{`"stop":"xx"`, "", "stop", "xx"},
		{`"stop":"xx","include_stop_str_in_output":true`, "xx", "stop", "xx"},
		{`"stop":["zz","x"],"min_tokens":2`, "xx", "stop", "x"},
		{fmt.Sprintf(`"stop_token_ids":[%d]`, x), "", "stop", float64(x)},
		{fmt.Sprintf(`"stop_token_ids":[%d],"min_tokens":3`, x), "xxx", "stop", float64(x)},
	} {
		body := fmt.Sprintf(`{"prompt":"a","temperature":0,"logit_bias":{"%d":100},%s}`, x, c.fields)
		a := r.ask("/v1/completions", body)
		ch := a.Choices[0]
		if ch.Text != c.text || *ch.FinishReason != c.reason || ch.StopReason != c.stop {
			t.Errorf("%s: %q, %s, %v", c.fields, ch.Text, *ch.FinishReason, ch.StopReason)
		}
		if k := r.chunks("/v1/completions", strings.Replace(body, "{", `{"stream":true,`, 1)); k[len(k)-1].Choices[0].StopReason != c.stop {
			t.Errorf("%s: streamed, %v", c.fields, k[len(k)-1].Choices[0].StopReason)
		}
	}
	end := `{"prompt":"a","temperature":0,"logit_bias":{"2":100},"return_token_ids":true,"max_tokens":3,%s}`
	if a := r.ask("/v1/completions", fmt.Sprintf(end, `"min_tokens":0`)); a.Choices[0].Text != "" || !slices.Equal(a.Choices[0].TokenIDs, []int32{2}) || a.Choices[0].StopReason != nil {
		t.Errorf("the end of a turn: %+v", a.Choices[0])
	}
	if a := r.ask("/v1/completions", fmt.Sprintf(end, `"ignore_eos":true,"skip_special_tokens":false`)); a.Choices[0].Text != strings.Repeat("<|im_end|>", 3) {
		t.Errorf("ends of turns that end nothing: %+v", a.Choices[0])
	}
}

// The prompt is scored as the engine scores it.
func TestPromptLogprobs(t *testing.T) {
	r := newRig(t, nil)
	a := r.ask("/v1/completions", `{"model":"two","prompt":[50,60,70,80],"max_tokens":1,"prompt_logprobs":3}`)
	adapter, err := r.eng.LoadAdapter(r.dir + "/two")
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.eng.Score(t.Context(), []int32{50, 60, 70, 80}, adapter)
	if err != nil {
		t.Fatal(err)
	}
	p := a.Choices[0].PromptLogprobs
	if len(p) != 4 || p[0] != nil {
		t.Fatalf("%+v", p)
	}
	for i, id := range []string{"60", "70", "80"} {
		if got := p[i+1][id]; got.Logprob != want[i] || len(p[i+1]) < 3 || got.Rank < 1 {
			t.Errorf("token %s: %+v, scored %v", id, got, want[i])
		}
	}
}

// Choices come with their exact probabilities, and as tokens that add up to them.
func TestChoices(t *testing.T) {
	r := newRig(t, nil)
	a := r.ask("/v1/chat/completions", `{`+hi+`,"temperature":0,"structured_outputs":{"choice":["ab","ac","d"]}}`)
	p := a.Choices[0].Macaron.Probabilities
	best := ""
	sum := 0.0
	for label, x := range p {
		if sum += x; x > p[best] {
			best = label
		}
	}
	if *a.Choices[0].Message.Content != best || math.Abs(sum-1) > 1e-9 || len(p) != 3 {
		t.Errorf("%q of %v", *a.Choices[0].Message.Content, p)
	}
	counts := map[string]int{}
	for seed := range 200 {
		a := r.ask("/v1/chat/completions", fmt.Sprintf(`{%s,"seed":%d,"guided_choice":["ab","ac","d"]}`, hi, seed))
		counts[*a.Choices[0].Message.Content]++
	}
	for label, x := range p {
		if math.Abs(float64(counts[label])-200*x) > 6*math.Sqrt(200*x)+1 {
			t.Errorf("%s came %d times of 200 at a probability of %v", label, counts[label], x)
		}
	}
	// A client that asks every kind of server at once.
	a = r.ask("/v1/chat/completions", `{`+hi+`,"structured_outputs":{"choice":["d"]},"guided_choice":["d"],"grammar":"root ::= \"d\""}`)
	if *a.Choices[0].Message.Content != "d" || !slices.Equal(a.Macaron.Ignored, []string{"grammar"}) {
		t.Errorf("%+v", a)
	}
}

// Adapters are models, and mixtures of them are the base's.
func TestAdaptersByName(t *testing.T) {
	r := newRig(t, nil)
	text := func(fields string) string {
		return r.ask("/v1/completions", `{"prompt":"hello","temperature":0,"max_tokens":12,`+fields+`}`).Choices[0].Text
	}
	base, one, two := text(`"model":"tiny"`), text(`"model":"one"`), text(`"model":"two"`)
	if base == one || base == two || one == two || text(`"model":"alias"`) != base || text(`"n":1`) != base {
		t.Fatalf("%q %q %q", base, one, two)
	}
	for fields, want := range map[string]string{
		`"lora":[{"name":"one"}]`: one, `"lora":[{"id":1,"scale":1}]`: two, `"lora":[]`: base, `"lora":[{"id":0,"scale":0}]`: base,
		`"lora":[{"name":"one","scale":1},{"id":1,"scale":0.0}]`: one,
	} {
		if got := text(fields); got != want {
			t.Errorf("%s: %q, not %q", fields, got, want)
		}
	}
	if mixed := text(`"lora":[{"name":"one","scale":0.5},{"name":"two","scale":0.5}]`); mixed == one || mixed == two || mixed == base {
		t.Errorf("mixed: %q", mixed)
	}
	r.refused("/v1/completions", `{"model":"three","prompt":"a"}`, http.StatusNotFound)
	if status, said := r.post("/v1/load_lora_adapter", `{"lora_name":"three","lora_path":"three"}`); status != 200 || said != "Success: LoRA adapter 'three' added successfully." {
		t.Fatalf("%d %s", status, said)
	}
	three := text(`"model":"three"`)
	if status, said := r.post("/v1/load_lora_adapter", `{"lora_name":"one","lora_path":"`+r.dir+`/three","load_inplace":true}`); status != 200 {
		t.Fatalf("%d %s", status, said)
	}
	if got := text(`"model":"one"`); got != three {
		t.Errorf("the name one still stands for the old adapter: %q", got)
	}
	r.refused("/v1/load_lora_adapter", `{"lora_name":"two","lora_path":"three"}`, http.StatusBadRequest)
	r.refused("/v1/load_lora_adapter", `{"lora_name":"tiny","lora_path":"three"}`, http.StatusBadRequest)
	if status, said := r.post("/v1/unload_lora_adapter", `{"lora_name":"three"}`); status != 200 || said != "Success: LoRA adapter 'three' removed successfully." {
		t.Fatalf("%d %s", status, said)
	}
	r.refused("/v1/unload_lora_adapter", `{"lora_name":"three"}`, http.StatusNotFound)
	if got := text(`"model":"one"`); got != three {
		t.Errorf("the content went with another name: %q", got)
	}
}

// Tools are told to the model, and what it calls is told to the client.
func TestForcedTools(t *testing.T) {
	r := newRig(t, nil)
	body := `{` + hi + `,"max_tokens":30,"temperature":0,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"tool_choice":%s%s}`
	for _, choice := range []string{`{"type":"function","function":{"name":"f"}}`, `"auto"`, `"none"`} {
		whole := r.ask("/v1/chat/completions", fmt.Sprintf(body, choice, ""))
		if whole.Usage.CompletionTokens == 0 || len(whole.Choices) != 1 {
			t.Errorf("%s: %+v", choice, whole)
		}
	}
	r.refused("/v1/chat/completions", fmt.Sprintf(body, `"required"`, `,"guided_choice":["a"]`), http.StatusBadRequest)
}

func TestMethodsAndPaths(t *testing.T) {
	r := newRig(t, nil)
	for _, path := range []string{"/v1/completions", "/v1/chat/completions", "/v1/embeddings", "/tokenize", "/detokenize", "/v1/load_lora_adapter", "/v1/unload_lora_adapter"} {
		if status, text := r.get(path); status != http.StatusMethodNotAllowed || !strings.Contains(text, "MethodNotAllowedError") {
			t.Errorf("GET %s: %d %s", path, status, text)
		}
	}
	for path, want := range map[string]int{"/health": 200, "/ping": 200, "/version": 200, "/v1/models": 200, "/v1/models/one": 200, "/v1/models/x": 404, "/v2/x": 404, "/": 404} {
		if status, text := r.get(path); status != want {
			t.Errorf("GET %s: %d %s", path, status, text)
		}
	}
	r.refused("/health", `{}`, http.StatusMethodNotAllowed)
	r.refused("/v1/completions", `{"prompt":"a"`, http.StatusBadRequest)
	r.refused("/v1/completions", `{"prompt":"`+strings.Repeat("a", 9<<20)+`"}`, http.StatusRequestEntityTooLarge)
}
