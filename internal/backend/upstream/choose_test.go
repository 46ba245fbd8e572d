package upstream

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"testing"

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

func TestEachDialectAsksInItsWay(t *testing.T) {
	for dialect, want := range map[string][3]bool{"vllm": {true, true, false}, "llama": {false, false, true}, "auto": {true, true, true}, "plain": {}} {
		var sent body
		b := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_ = json.NewDecoder(r.Body).Decode(&sent)
			says("L1")(w, r)
		})
		b.Dialect = dialect
		r := ask("L2")
		r.Choices = labels
		all, err := collect(t.Context(), b, r)
		if err != nil || all.Choice == nil || all.Choice.Label != "L1" || all.Choice.Probabilities != nil || all.Finish == nil {
			t.Errorf("%s: %+v, %v", dialect, all.Choice, err)
		}
		if got := [3]bool{sent.StructuredOutputs != nil, sent.GuidedChoice != nil, sent.Grammar != ""}; got != want {
			t.Errorf("%s asks %v", dialect, got)
		}
	}
	if g := grammar([]string{`a"b`, `c\d`}); g != `root ::= "a\"b" | "c\\d"` {
		t.Error(g)
	}
}

func TestOneMoreTryThenAnError(t *testing.T) {
	n := 0
	b := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var sent body
		_ = json.NewDecoder(r.Body).Decode(&sent)
		if n++; sent.Grammar != "" {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"error":{"message":"unknown field grammar"}}`)
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
	b = serve(t, func(w http.ResponseWriter, r *http.Request) { n++; says("I cannot say")(w, r) })
	if _, err := collect(t.Context(), b, r); errs.CodeOf(err) != errs.FormatInvalid || n != 2 {
		t.Errorf("%v after %d tries", err, n)
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
