package engine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/kv"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/sample"
	"macaron/internal/errs"
)

// whole makes an adapter of all linear layers and the output head.
func whole(t testing.TB, e *Engine, seed uint64) *lora.Adapter {
	t.Helper()
	const rank = 3
	r := rand.New(rand.NewPCG(seed, 5))
	shape := e.model.Shape("")
	fill := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(r.NormFloat64() * 0.15)
		}
		return out
	}
	var values []lora.Values
	for layer := range shape.Layers {
		for target := range lora.Head + 1 {
			if in, out := shape.Dims(target); layer == 0 || target != lora.Head {
				values = append(values, lora.Values{Layer: layer, Target: target, A: fill(rank * in), B: fill(out * rank)})
			}
		}
	}
	c, err := lora.Make(shape, lora.Plan{Rank: rank, Alpha: 6}, values)
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Adapter(shape)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestSampledIsScored: the log probability of every sampled token, whatever shaped the
// sampling and whoever ran beside it, equals the one that scoring gives, with one thread
// and with two, under the base, adapters of the head and mixtures of them.
func TestSampledIsScored(t *testing.T) {
	model := enginetest.Model(t, 1)
	one := open(t, model, func(o *Options) { o.Threads = 1 })
	two := open(t, model, func(o *Options) { o.Threads, o.MaxBatch = 2, 5 })
	r := rand.New(rand.NewPCG(3, 9))
	var requests []Request
	for i := range 12 {
		q := Request{Prompt: prompt(r, 1+r.IntN(150)), MaxTokens: 1 + r.IntN(40), IgnoreEOS: true,
			Sampling: sample.Params{Temperature: 0.5 + r.Float64(), TopK: i % 3 * 20, TopP: 1 - float64(i%2)/10, Seed: r.Uint64(), FrequencyPenalty: float64(i%4) / 4}}
		switch i % 4 {
		case 1:
			q.Adapter = whole(t, two, 1)
		case 2:
			q.Adapter = whole(t, two, 2)
		case 3:
			q.Mix = lora.Mix{{Adapter: whole(t, two, 1), Weight: 0.5}, {Adapter: whole(t, two, 2), Weight: -1}}
		}
		requests = append(requests, q)
	}
	for i, s := range submitAll(t, two, requests) {
		tokens, err := collect(s)
		if err != nil {
			t.Fatal(err)
		}
		q := requests[i]
		all, mix := slices.Clone(q.Prompt), q.Mix
		if mix == nil {
			mix = lora.Only(q.Adapter)
		}
		var got []float64
		for _, tok := range tokens {
			all, got = append(all, tok.ID), append(got, tok.Logprob)
		}
		for name, e := range map[string]*Engine{"one thread": one, "two threads": two} {
			want, err := e.ScoreMix(context.Background(), all, mix)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want[len(q.Prompt)-1:]) {
				t.Errorf("request %d: sampled %v, scored with %s %v", i, got, name, want[len(q.Prompt)-1:])
			}
		}
	}
}

// TestTheHeadDecidesChoicesToo: a choice's probabilities are those of the scored labels.
func TestTheHeadDecidesChoicesToo(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), nil)
	p := prompt(rand.New(rand.NewPCG(3, 1)), 20)
	seen := map[string]bool{}
	for _, a := range []*lora.Adapter{nil, whole(t, e, 1), whole(t, e, 2)} {
		tokens := generate(t, e, Request{Prompt: p, Adapter: a, Choices: [][]int32{{40, 41}, {50, 51}}})
		got := tokens[0].Choice.Probabilities
		var mass [2]float64
		for i, label := range [][]int32{{40, 41}, {50, 51}} {
			s, err := e.Score(context.Background(), append(append(slices.Clone(p), label...), e.end()), a)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range s[len(p)-1:] {
				mass[i] += l
			}
		}
		if want := 1 / (1 + math.Exp(mass[1]-mass[0])); math.Abs(got[0]-want) > 1e-5 {
			t.Errorf("the first label has %v, scored %v", got[0], want)
		}
		seen[fmt.Sprint(got)] = true
	}
	if len(seen) != 3 {
		t.Error("the adapters change nothing")
	}
}

func TestSamplesOfOnePrompt(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), func(o *Options) { o.MaxBatch = 4 })
	for _, n := range []int{20, 70, 200} {
		q := Request{Prompt: prompt(rand.New(rand.NewPCG(3, uint64(n))), n), MaxTokens: 12, ScorePrompt: true, Adapter: whole(t, e, 1), Sampling: sample.Params{Temperature: 1, Seed: 77}}
		released := 0
		q.Release = func() { released++ }
		before := e.Stats().PromptTokens
		got, err := e.Samples(context.Background(), q, 9)
		if err != nil || released != 1 {
			t.Fatalf("%v, released %d times", err, released)
		}
		// Full pages are computed once. A page that is not full is shared only while a sequence that holds it lives, and
		// nine answers, four at a time, may all have ended before the next one begins.
		if computed := e.Stats().PromptTokens - before; computed > int64(n+8*(n%kv.PageTokens)+9) {
			t.Errorf("%d tokens of a prompt of %d were computed for nine answers", computed, n)
		}
		if len(got.Prompt) != n-1 || got.Usage.Prompt != n {
			t.Errorf("%d scores of a prompt of %d, usage %+v", len(got.Prompt), n, got.Usage)
		}
		seen := map[string]bool{}
		for i, answer := range got.Answers {
			alone := q
			alone.Release, alone.ScorePrompt, alone.Sampling.Seed = nil, false, sample.Nth(77, i)
			if diff := cmp.Diff(generate(t, e, alone), answer); diff != "" {
				t.Errorf("answer %d alone is another: %s", i, diff)
			}
			seen[fmt.Sprint(answer)] = true
		}
		if len(seen) != 9 || sample.Nth(77, 0) != 77 {
			t.Errorf("%d different answers of nine", len(seen))
		}
	}
	for _, n := range []int{0, MaxSamples + 1} {
		if _, err := e.Samples(context.Background(), Request{Prompt: []int32{1}}, n); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%d samples: %v", n, err)
		}
	}
	if _, err := e.Samples(context.Background(), Request{Prompt: []int32{-1}}, 2); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("a bad prompt: %v", err)
	}
}

// TestStops: the token that meets a stop is the last one and there with its probability.
func TestStops(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), nil)
	q := Request{Prompt: prompt(rand.New(rand.NewPCG(5, 1)), 9), MaxTokens: 60, IgnoreEOS: true, Sampling: sample.Params{Temperature: 1.5, Seed: 3}}
	plain := generate(t, e, q)
	if last := plain[len(plain)-1]; len(plain) != 60 || last.Reason != Length {
		t.Fatalf("without stops %d tokens, %+v", len(plain), last)
	}
	var text []byte
	for _, tok := range plain {
		text = append(text, e.tok.Piece(tok.ID)...)
	}
	first := func(id int32) int { return slices.IndexFunc(plain, func(t Token) bool { return t.ID == id }) }
	for name, c := range map[string]struct {
		stops Stops
		want  int // tokens
	}{
		"a token":      {Stops{Tokens: []int32{plain[7].ID}}, first(plain[7].ID) + 1},
		"two tokens":   {Stops{Tokens: []int32{plain[9].ID, plain[4].ID}}, min(first(plain[9].ID), first(plain[4].ID)) + 1},
		"across":       {Stops{Texts: []string{string(e.tok.Piece(plain[20].ID)) + string(e.tok.Piece(plain[21].ID)) + string(e.tok.Piece(plain[22].ID))}}, 23},
		"text, unmet":  {Stops{Texts: []string{string(text) + "x"}}, 60},
		"all together": {Stops{Tokens: []int32{plain[30].ID}, Texts: []string{string(text[:3])}}, min(first(plain[30].ID)+1, tokensOf(e, plain, 3))},
	} {
		q.Stop = c.stops
		got := generate(t, e, q)
		if len(got) != c.want || (c.want < 60) != (got[len(got)-1].Reason == Stop) {
			t.Errorf("%s: %d tokens, want %d, the last is %+v", name, len(got), c.want, got[len(got)-1])
			continue
		}
		for i, tok := range got {
			if tok.ID != plain[i].ID || tok.Logprob != plain[i].Logprob {
				t.Errorf("%s: token %d is %+v, was %+v", name, i, tok, plain[i])
			}
		}
	}
	for name, s := range map[string]Stops{"no such token": {Tokens: []int32{9999}}, "empty": {Texts: []string{""}}, "many": {Tokens: make([]int32, MaxStops+1)}} {
		q.Stop = s
		if _, err := e.Submit(context.Background(), q); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// tokensOf is how many tokens it takes to have n bytes.
func tokensOf(e *Engine, tokens []Token, n int) int {
	for i, tok := range tokens {
		if n -= len(e.tok.Piece(tok.ID)); n <= 0 {
			return i + 1
		}
	}
	return len(tokens)
}

// TestTargetsOfAPrompt: their log probabilities are those of Score of the prompt that goes
// on with them, and positions before the first that is asked for come from the cache.
func TestTargetsOfAPrompt(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), nil)
	a := whole(t, e, 1)
	p := prompt(rand.New(rand.NewPCG(6, 1)), 150)
	targets := make([][]int32, len(p)-1)
	targets[130], targets[148] = []int32{5, -1, 90}, []int32{p[149]}
	ask := func(from int) *Stream {
		s, err := e.Submit(context.Background(), Request{Prompt: p, MaxTokens: 1, Adapter: a, ScorePrompt: true, ScoreFrom: from, Targets: targets, IgnoreEOS: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := collect(s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	whole, part := ask(0), ask(131)
	if whole.Usage().Cached != 0 || part.Usage().Cached < 64 {
		t.Errorf("cached %d and %d", whole.Usage().Cached, part.Usage().Cached)
	}
	if diff := cmp.Diff(whole.Prompt()[130:], part.Prompt(), cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); diff != "" || len(part.Prompt()) != 19 {
		t.Errorf("%d scores: %s", len(part.Prompt()), diff)
	}
	got := part.Prompt()[0].Targets
	for i, id := range targets[130] {
		if id < 0 {
			if !math.IsNaN(got[i]) {
				t.Errorf("a skipped target has %v", got[i])
			}
			continue
		}
		want, err := e.Score(context.Background(), append(slices.Clone(p[:131]), id), a)
		if err != nil {
			t.Fatal(err)
		}
		if got[i] != want[130] {
			t.Errorf("target %d: %v, scored %v", id, got[i], want[130])
		}
	}
	if last := part.Prompt()[18]; last.Targets[0] != last.Logprob {
		t.Errorf("the prompt's own token: %+v", last)
	}
	for name, q := range map[string]Request{
		"beyond":       {ScorePrompt: true, ScoreFrom: 151},
		"unasked":      {Targets: targets},
		"too few":      {ScorePrompt: true, Targets: targets[1:]},
		"not in vocab": {ScorePrompt: true, Targets: append(slices.Clone(targets[1:]), []int32{9999})},
	} {
		q.Prompt = p
		if _, err := e.Submit(context.Background(), q); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
}
