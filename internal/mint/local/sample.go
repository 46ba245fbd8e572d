package local

import (
	"context"
	"errors"
	"io"
	"math"
	"math/bits"
	"sync"

	"macaron/internal/engine"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/sample"
	"macaron/internal/errs"
	"macaron/internal/mint"
)

// Sample answers a prompt. The answers of a request have seeds of their own, of which the
// first is the request's.
func (w *Worker) Sample(ctx context.Context, owner string, stored *mint.Stored, r mint.Sample, seed uint64) (out mint.Samples, err error) {
	if err := w.Check(r); err != nil {
		return out, err
	}
	a, err := w.adapter(stored)
	if err != nil {
		return out, err
	}
	if out.Targets, err = w.targetLogprobs(ctx, a, r); err != nil {
		return out, err
	}
	out.Sequences = make([]mint.Sequence, r.N)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	failed := make([]error, r.N)
	for i := range r.N {
		group.Go(func() {
			if failed[i] = w.answer(ctx, owner, a, r, seed, i, &out); failed[i] != nil {
				cancel() // the others are of no use
			}
		})
	}
	group.Wait()
	return out, first(failed)
}

// first is the error that the others follow from.
func first(all []error) (err error) {
	for _, e := range all {
		if e != nil && (err == nil || errs.CodeOf(err) == errs.Canceled) {
			err = e
		}
	}
	return err
}

// answer samples answer i; the first one scores the prompt as well, where that is asked for.
func (w *Worker) answer(ctx context.Context, owner string, a *lora.Adapter, r mint.Sample, seed uint64, i int, out *mint.Samples) error {
	select {
	case w.running <- struct{}{}:
		defer func() { <-w.running }()
	case <-ctx.Done():
		return errs.Wrap(errs.Canceled, ctx.Err(), "the request was cancelled", "")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	score := i == 0 && (r.PromptLogprobs || r.PromptTop > 0)
	s, err := w.e.Submit(ctx, engine.Request{Prompt: r.Prompt, Adapter: a, Salt: owner, Session: owner, MaxTokens: r.MaxTokens, Sampling: params(r, nth(seed, i)),
		IgnoreEOS: r.Stop.None, TopLogprobs: r.SampleTop, ScorePrompt: score, PromptTop: r.PromptTop})
	if err != nil {
		return err
	}
	if err := w.read(s, r, &out.Sequences[i]); err != nil {
		return err
	}
	if score {
		out.PromptLogprobs, out.PromptTop = prompt(s.Prompt(), r)
	}
	if i == 0 {
		out.Cached = s.Usage().Cached
	}
	return nil
}

// read takes tokens until the answer ends, or one of the request's stops is there: a token
// or, in the text of the answer, a string. The token that ends it belongs to it.
func (w *Worker) read(s *engine.Stream, r mint.Sample, to *mint.Sequence) error {
	stops := newStops(r.Stop, w.e.Tokenizer())
	for {
		t, err := s.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		to.Tokens = append(to.Tokens, t.ID)
		to.Logprobs = append(to.Logprobs, float32(t.Logprob))
		if r.SampleTop > 0 {
			to.Top = append(to.Top, scored(t.Top))
		}
		if stops.reached(t.ID) {
			to.Stop = mint.Stopped
			return nil
		}
		if t.Last {
			to.Stop = mint.Length
			if t.Reason == engine.Stop {
				to.Stop = mint.Stopped
			}
		}
	}
}

// nth is the seed of answer i: the first answer has the request's own.
func nth(seed uint64, i int) uint64 {
	if i == 0 {
		return seed
	}
	x := seed ^ bits.RotateLeft64(uint64(i)*0x9e3779b97f4a7c15, 17)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// prompt gives the log probabilities of a prompt's tokens, after those before them.
func prompt(tokens []engine.PromptToken, r mint.Sample) (logprobs []float32, top [][]mint.Scored) {
	n := len(tokens) + 1
	from := 0
	if r.PromptLast > 0 {
		from = max(0, n-r.PromptLast)
	}
	if r.PromptLogprobs {
		logprobs = make([]float32, n)
	}
	if r.PromptTop > 0 {
		top = make([][]mint.Scored, n)
	}
	for i := range n {
		seen := i > 0 && i >= from
		if logprobs != nil {
			logprobs[i] = float32(math.NaN())
			if seen {
				logprobs[i] = float32(tokens[i-1].Logprob)
			}
		}
		if top != nil && seen {
			top[i] = scored(tokens[i-1].Top)
		}
	}
	return logprobs, top
}

func scored(all []sample.Logprob) []mint.Scored {
	out := make([]mint.Scored, len(all))
	for i, l := range all {
		out[i] = mint.Scored{Token: l.ID, Logprob: float32(l.Logprob)}
	}
	return out
}
