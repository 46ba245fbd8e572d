package engine

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/grammar"
	"macaron/internal/engine/sample"
	"macaron/internal/errs"
	"macaron/internal/testmodel"
)

func constraints(t testing.TB, e *Engine) *grammar.Vocab {
	t.Helper()
	v, err := e.Constraints()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func textOf(e *Engine, tokens []Token) string {
	var ids []int32
	for _, t := range tokens {
		if !t.Last || t.Reason != Stop {
			ids = append(ids, t.ID)
		}
	}
	return string(e.Tokenizer().Decode(ids))
}

// TestAnswersStayWithinTheirGrammar: greedy and sampled answers of a random model are
// texts of the grammar, end where it may end, and carry the model's own log
// probabilities; alone or beside others they are the same.
func TestAnswersStayWithinTheirGrammar(t *testing.T) {
	e := open(t, enginetest.Model(t, 3), nil)
	v := constraints(t, e)
	number, err := v.Regex(`-?[0-9]{2,4}\.[0-9]`)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := v.JSONSchema([]byte(`{"type":"object","properties":{"city":{"type":"string","maxLength":6},"ok":{"type":"boolean"}},"required":["city","ok"],"additionalProperties":false}`), grammar.SchemaOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	var requests []Request
	var alone [][]Token
	for i := range 12 {
		q := Request{Prompt: prompt(r, 20+i), Grammar: number, MaxTokens: 300, Sampling: sample.Params{Temperature: float64(i%3) / 2, TopP: 0.9, RepetitionPenalty: 1.1, Seed: uint64(i)}}
		if i%2 == 0 {
			q.Grammar = schema
		}
		requests = append(requests, q)
		out := generate(t, e, q)
		alone = append(alone, out)
		text := textOf(e, out)
		if out[len(out)-1].Reason != Stop {
			t.Errorf("%q does not end by itself", text)
		}
		if i%2 == 1 && !regexp.MustCompile(`^-?[0-9]{2,4}\.[0-9]$`).MatchString(text) || i%2 == 0 && !json.Valid([]byte(text)) {
			t.Errorf("%q is not of the grammar", text)
		}
		checkLogprobs(t, e, q, out)
		q.NoLogprobs = true
		if light := generate(t, e, q); !slices.EqualFunc(light, out, func(a, b Token) bool { return a.ID == b.ID }) {
			t.Errorf("without log probabilities the answer is %q, else %q", textOf(e, light), text)
		} else if !slices.ContainsFunc(light, func(t Token) bool { return math.IsNaN(t.Logprob) }) {
			t.Error("the whole head was computed")
		}
	}
	for i, s := range submitAll(t, e, requests) {
		out, err := collect(s)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(out, alone[i], func(a, b Token) bool { return a.ID == b.ID && a.Logprob == b.Logprob }) {
			t.Errorf("request %d differs in company", i)
		}
	}
}

// checkLogprobs compares with a pass that scores the whole text.
func checkLogprobs(t *testing.T, e *Engine, q Request, out []Token) {
	t.Helper()
	all := slices.Clone(q.Prompt)
	for _, tok := range out {
		all = append(all, tok.ID)
	}
	scores, err := e.Score(context.Background(), all, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, tok := range out {
		if want := scores[len(q.Prompt)-1+i]; tok.Logprob != want {
			t.Fatalf("token %d has log probability %v, scored %v", i, tok.Logprob, want)
		}
	}
}

func TestAGrammarIsCutByMaxTokens(t *testing.T) {
	e := open(t, enginetest.Model(t, 3), nil)
	g, err := constraints(t, e).Regex("a{40}")
	if err != nil {
		t.Fatal(err)
	}
	out := generate(t, e, Request{Prompt: []int32{5, 6}, Grammar: g, MaxTokens: 7})
	if len(out) != 7 || out[6].Reason != Length || textOf(e, out) != "aaaaaaa" {
		t.Errorf("got %q, %v", textOf(e, out), out[len(out)-1].Reason)
	}
}

func TestAGrammarThatCannotGoOnIsAnError(t *testing.T) {
	e := open(t, enginetest.Model(t, 3), nil)
	g, err := constraints(t, e).Choice([]string{"a\xff"}) // no token has this byte
	if err != nil {
		t.Fatal(err)
	}
	out, err := collect(mustSubmit(t, e, Request{Prompt: []int32{5}, Grammar: g}))
	if errs.CodeOf(err) != errs.Unsupported || textOf(e, out) != "a" {
		t.Errorf("%q, %v", textOf(e, out), err)
	}
}

func TestGrammarsThatDoNotFitAreRefused(t *testing.T) {
	e := open(t, enginetest.Model(t, 3), nil)
	other := open(t, enginetest.Model(t, 4), nil)
	g, err := constraints(t, other).Regex("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []Request{{Prompt: []int32{5}, Grammar: g}} {
		if _, err := e.Submit(context.Background(), q); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("a grammar of another vocabulary gives %v", err)
		}
	}
	g, err = constraints(t, e).Regex("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []Request{{Grammar: g, IgnoreEOS: true}, {Grammar: g, Choices: [][]int32{{4}, {5}}}} {
		q.Prompt = []int32{5}
		if _, err := e.Submit(context.Background(), q); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%v", err)
		}
	}
}

func mustSubmit(t testing.TB, e *Engine, r Request) *Stream {
	t.Helper()
	s, err := e.Submit(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTheDefaultModelKeepsToASchema: rows of the head alone and the whole head give the
// same answers of a real vocabulary, and they are documents of the schema.
func TestTheDefaultModelKeepsToASchema(t *testing.T) {
	e := open(t, testmodel.Path(t), func(o *Options) { o.KVBytes = 64 << 20 })
	g, err := constraints(t, e).JSONSchema([]byte(`{"type":"object","properties":{"name":{"type":"string","maxLength":20},"age":{"type":"integer","minimum":0,"maximum":120},
		"tags":{"type":"array","items":{"enum":["red","green","blue"]},"minItems":1,"maxItems":3}},"required":["name","age","tags"],"additionalProperties":false}`), grammar.SchemaOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, ask := range []string{"Describe a person as JSON.", "Who is Ada Lovelace?", "1, 2, 3"} {
		q := Request{Prompt: e.Tokenizer().Encode(ask+"\n", false), Grammar: g, MaxTokens: 120, Sampling: sample.Params{Temperature: float64(i) / 2, TopP: 0.9, Seed: 5}}
		whole := generate(t, e, q)
		q.NoLogprobs = true
		light := generate(t, e, q)
		var doc struct {
			Name *string
			Age  int
			Tags []string
		}
		if err := json.Unmarshal([]byte(textOf(e, whole)), &doc); err != nil || doc.Name == nil || doc.Age > 120 || len(doc.Tags) < 1 || len(doc.Tags) > 3 {
			t.Errorf("%q: %v", textOf(e, whole), err)
		}
		if !slices.EqualFunc(light, whole, func(a, b Token) bool { return a.ID == b.ID }) {
			t.Errorf("%q, with few rows of the head %q", textOf(e, whole), textOf(e, light))
		}
	}
}

// TestWholeAnswersEndInTime: with any room that the shortest text fits into, an answer that
// has to be whole ends by itself, within its room and grammar, also without log
// probabilities; with less it is cut.
func TestWholeAnswersEndInTime(t *testing.T) {
	e := open(t, enginetest.Model(t, 3), nil)
	list, err := constraints(t, e).EBNF(`root ::= "[" item ("," item)* "]"
item ::= "\"" [a-z ]* "\"" | root`)
	if err != nil {
		t.Fatal(err)
	}
	cut := 0
	for most := 2; most < 40; most++ {
		q := Request{Prompt: prompt(rand.New(rand.NewPCG(2, 2)), 20), Grammar: list, Whole: true, NoLogprobs: most%2 == 0, MaxTokens: most, Sampling: sample.Params{Temperature: 1, Seed: uint64(most)}}
		out := generate(t, e, q)
		last, shortest := out[len(out)-1].Reason, len(`[""]`)+1
		if fits := most >= shortest; fits != (last == Stop) || len(out) > most || fits && !json.Valid([]byte(textOf(e, out))) {
			t.Errorf("with room for %d tokens: %q, which ends by %v", most, textOf(e, out), last)
		}
		q.Whole = false
		if out := generate(t, e, q); out[len(out)-1].Reason == Length {
			cut++
		}
	}
	if cut < 10 {
		t.Errorf("only %d answers are cut without it", cut)
	}
}
