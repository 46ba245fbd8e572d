package upstream

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/chat"
	"macaron/internal/errs"
)

var labels = []string{"L0", "L1", "L2", "L3"}

func says(text string) http.HandlerFunc {
	b, _ := json.Marshal(text)
	return stream(`{"choices":[{"delta":{"content":`+string(b)+`}}]}`, end, tokens, "[DONE]")
}

func TestLabelsAsModelsSayThem(t *testing.T) {
	for text, want := range map[string]string{
		"L2": "L2", " l2\n": "L2", "L2.": "L2", "model_id=L2": "L2", "`L2`": "L2", "L2 because": "L2", "label: L2": "L2", "**L2**": "L2",
		"": "", "L9": "", "the L2": "", "L22": "", "=": "", "use L2": "", "L": "",
	} {
		got, ok := parseLabel(text, labels)
		if got != want || ok != (want != "") {
			t.Errorf("%q is %q", text, got)
		}
	}
}

// told is a server that answers probes as told and chats by the handler.
func told(probes map[string]string, chat http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			chat(w, r)
			return
		}
		text, ok := probes[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			text = `{"error":{"message":"File Not Found","code":404}}`
		}
		_, _ = io.WriteString(w, text)
	}
}

// The probes as servers of each kind answer them.
var kinds = map[string]map[string]string{
	"macaron":      {"/v1/models": `{"data":[{"id":"m","owned_by":"macaron"},{"id":"coder","owned_by":"macaron","parent":"m","revision":"sha256:ab"}]}`, "/version": `{"version":"dev","engine":"macaron"}`},
	"vllm":         {"/v1/models": `{"data":[{"id":"m","owned_by":"vllm","parent":null},{"id":"coder","owned_by":"vllm","parent":"m"}]}`, "/version": `{"version":"0.32.0"}`},
	"sglang":       {"/v1/models": `{"data":[{"id":"m","owned_by":"sglang"}]}`, "/get_server_info": `{"model_path":"m","version":"0.5.23"}`},
	"llama-server": {"/v1/models": `{"data":[{"id":"m.gguf","owned_by":"llamacpp"}]}`, "/props": `{"total_slots":2,"build_info":"b1"}`, "/lora-adapters": `[{"id":0,"path":"x/chat.gguf"},{"id":1,"path":"x/coder.gguf"}]`},
	"openai":       {"/v1/models": `{"data":[{"id":"coder","owned_by":"somebody"}]}`},
}

func TestEachDialectAsksInItsWay(t *testing.T) {
	const enum = `{"type":"json_schema","json_schema":{"name":"choice","strict":true,"schema":{"type":"object","properties":{"label":{"type":"string","enum":["L0","L1","L2","L3"]}},"required":["label"],"additionalProperties":false}}}`
	const gbnf = `root ::= \"L0\" | \"L1\" | \"L2\" | \"L3\"`
	for kind, want := range map[string]string{
		"vllm":         `{"model":"coder","logprobs":true,"top_logprobs":20,"max_tokens":16,"top_k":3,"cache_salt":"SALT","structured_outputs":{"choice":["L0","L1","L2","L3"]},"guided_choice":["L0","L1","L2","L3"]}`,
		"macaron":      `{"model":"coder","logprobs":true,"top_logprobs":20,"max_tokens":16,"top_k":3,"cache_salt":"SALT","structured_outputs":{"choice":["L0","L1","L2","L3"]}}`,
		"sglang":       `{"model":"m","lora_path":"coder","logprobs":true,"top_logprobs":20,"max_tokens":16,"top_k":3,"regex":"(L0|L1|L2|L3)"}`,
		"llama-server": `{"model":"coder","logprobs":true,"top_logprobs":100,"max_tokens":16,"top_k":3,"grammar":"` + gbnf + `","lora":[{"id":0,"scale":0},{"id":1,"scale":1}],"id_slot":1,"cache_prompt":false}`,
		"openai":       `{"model":"coder","max_tokens":32,"response_format":` + enum + `}`,
	} {
		for _, setting := range []string{kind, Auto} {
			var sent map[string]any
			answer := "L1"
			if kind == "openai" {
				answer = `{"label": "L1"}`
			}
			b := serve(t, told(kinds[kind], func(w http.ResponseWriter, r *http.Request) {
				_ = json.NewDecoder(r.Body).Decode(&sent)
				says(answer)(w, r)
			}))
			b.fixed, b.wrong = named(setting)
			r := ask("L2")
			r.Choices, r.Salt, r.Sampling.TopK = labels, "tenant", new(int)
			*r.Sampling.TopK = 3
			all, err := collect(t.Context(), b, r)
			if err != nil || all.Choice == nil || all.Choice.Label != "L1" || all.Choice.Probabilities != nil || all.Finish == nil {
				t.Errorf("%s: %+v, %v", kind, all.Choice, err)
				continue
			}
			for _, common := range []string{"messages", "stream", "stream_options"} {
				delete(sent, common)
			}
			if s, ok := sent["cache_salt"].(string); ok && len(s) == 32 {
				sent["cache_salt"] = "SALT"
			}
			var w map[string]any
			if err := json.Unmarshal([]byte(want), &w); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(w, sent); d != "" {
				t.Errorf("%s, set to %s: %s", kind, setting, d)
			}
		}
	}
	if g := grammar([]string{`a"b`, `c\d`}); g != `root ::= "a\"b" | "c\\d"` {
		t.Error(g)
	}
}

func TestTheKindOfAServerIsFoundOut(t *testing.T) {
	for kind, probes := range kinds {
		f, err := serve(t, told(probes, says(""))).Probe(t.Context())
		if err != nil || f.Dialect != kind {
			t.Errorf("%s is taken for %+v, %v", kind, f, err)
		}
	}
	if _, err := named("nothing"); errs.CodeOf(err) != errs.InvalidRequest {
		t.Error(err)
	}
	for _, d := range dialects {
		if got, err := named(d.name); err != nil || got != d {
			t.Errorf("%s is %v, %v", d.name, got, err)
		}
	}
}

func TestFreeTextThenTheLabelsSpeltOutThenAnError(t *testing.T) {
	n := 0
	b := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var sent body
		_ = json.NewDecoder(r.Body).Decode(&sent)
		if n++; sent.ResponseFormat != nil {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"error":{"message":"unknown field response_format"}}`)
			return
		}
		says("L3")(w, r)
	})
	r := ask("L2")
	r.Choices = labels
	if all, err := collect(t.Context(), b, r); err != nil || all.Choice.Label != "L3" || n != 2 {
		t.Errorf("%v after %d tries", err, n)
	}
	n = 0
	last := ""
	b = serve(t, func(w http.ResponseWriter, r *http.Request) {
		var sent body
		_ = json.NewDecoder(r.Body).Decode(&sent)
		n, last = n+1, fmt.Sprint(sent.Messages[0].Content)
		says("I cannot say")(w, r)
	})
	if _, err := collect(t.Context(), b, r); errs.CodeOf(err) != errs.FormatInvalid || n != 3 || !strings.HasSuffix(last, "one of: L0, L1, L2, L3") {
		t.Errorf("%v after %d tries, %q", err, n, last)
	}
	if r.Messages[0].Text() != "hi" {
		t.Errorf("the request was changed: %+v", r.Messages)
	}
}

func token(text string, lp float64, top ...chat.TokenLogprob) chat.TokenLogprob {
	return chat.TokenLogprob{Bytes: []byte(text), Logprob: lp, Top: top}
}

func TestProbabilitiesAreDerivedOrAbsent(t *testing.T) {
	ln := math.Log
	p := probabilities(labels, []chat.TokenLogprob{
		token("L", ln(.8), token("L", ln(.8))),
		token("2", ln(.5), token("2", ln(.5)), token("0", ln(.25)), token("1", ln(.125)), token("3", ln(.125))),
	})
	for l, want := range map[string]float64{"L0": .25, "L1": .125, "L2": .5, "L3": .125} {
		if math.Abs(p[l]-want) > 1e-12 {
			t.Errorf("%s is %v", l, p[l])
		}
	}
	whole := probabilities(labels, []chat.TokenLogprob{token(" L1", ln(.6), token(" L1", ln(.6)), token("L0", ln(.1)), token(" L2", ln(.1)), token(" L3", ln(.2)))})
	if math.Abs(whole["L1"]-.6) > 1e-12 {
		t.Errorf("whole labels: %v", whole)
	}
	for name, tokens := range map[string][]chat.TokenLogprob{
		"none":    nil,
		"missing": {token("L", 0), token("2", ln(.5), token("0", ln(.25)))},
		"cut":     {token("L", 0)},
	} {
		if p := probabilities(labels, tokens); p != nil {
			t.Errorf("%s gives %v", name, p)
		}
	}
}

func FuzzPiece(f *testing.F) {
	for _, s := range []string{hello, lo, end, tokens, `{"error":"x"}`, `{"choices":[{"delta":{"tool_calls":[{"index":-1}]}}]}`, `[]`, `null`, `{"choices":[{"logprobs":{"content":[{"bytes":[300,-1]}]}}]}`} {
		f.Add([]byte(s), []byte(end))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		ends := 0
		p := &parser{backend: New(Config{URL: "http://x/v1"}), emit: func(e chat.Event) bool {
			if e.Finish != nil {
				ends++
			}
			return true
		}}
		if p.piece(a) == nil && p.piece(b) == nil && p.finish() == nil && ends != 1 {
			t.Fatalf("%d ends", ends)
		}
	})
}
