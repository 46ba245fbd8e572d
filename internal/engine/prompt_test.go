package engine

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/sample"
	"macaron/internal/errs"
)

// TestPromptScores: the prompt's log probabilities are those of Score to the bit, cold or
// beside a cached prefix, with an adapter and without, and the answer is not changed.
func TestPromptScores(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), nil)
	r := rand.New(rand.NewPCG(8, 8))
	a := load(t, e, 4)
	for _, n := range []int{1, 2, 31, 32, 33, 150, 300} {
		q := Request{Prompt: prompt(r, n), MaxTokens: 3, IgnoreEOS: true}
		if n%2 == 0 {
			q.Adapter = a
		}
		plain := generate(t, e, q)
		want, err := e.Score(context.Background(), q.Prompt, q.Adapter)
		if err != nil {
			t.Fatal(err)
		}
		q.ScorePrompt, q.PromptTop = true, 2
		s, err := e.Submit(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		tokens, err := collect(s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(plain, tokens); diff != "" {
			t.Errorf("%d tokens: the answer changed: %s", n, diff)
		}
		var got []float64
		for i, p := range s.Prompt() {
			if p.ID != q.Prompt[i+1] || len(p.Top) != 2 || (p.Rank == 1) != (p.Top[0].Logprob == p.Logprob) {
				t.Fatalf("position %d: %+v", i, p)
			}
			got = append(got, p.Logprob)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d tokens: %s", n, diff)
		}
		if u := s.Usage(); u.Output != 3 || u.Cached != 0 {
			t.Errorf("usage %+v", u)
		}
	}
}

// TestMinTokens: an end of turn that a bias makes certain waits for its first turn.
func TestMinTokens(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), nil)
	q := Request{Prompt: []int32{5, 6, 7}, MaxTokens: 20, Sampling: sample.Params{Bias: []sample.Bias{{ID: e.tok.EOS(), Logit: 100}}}}
	if n := len(generate(t, e, q)); n != 1 {
		t.Errorf("%d tokens before a certain end", n)
	}
	for _, least := range []int{1, 4} {
		q.MinTokens = least
		if n := len(generate(t, e, q)); n != least+1 {
			t.Errorf("%d tokens with a least of %d", n, least)
		}
	}
	q.MinTokens = 21
	if _, err := e.Submit(context.Background(), q); errs.As(err).Field != "min_tokens" {
		t.Error(err)
	}
}

// TestBiasOfNoToken: a bias on a token that the model does not have is refused, not passed over.
func TestBiasOfNoToken(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), nil)
	for _, id := range []int32{-1, int32(e.Info().Vocab)} {
		q := Request{Prompt: []int32{5}, MaxTokens: 1, Sampling: sample.Params{Bias: []sample.Bias{{ID: id, Logit: 1}}}}
		if _, err := e.Submit(context.Background(), q); errs.As(err).Field != "logit_bias" {
			t.Errorf("token %d: %v", id, err)
		}
	}
}
