package local

import (
	"context"
	"math"

	"macaron/internal/engine"
	"macaron/internal/engine/sample"
	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/train"
)

// Sample answers a prompt. The answers of a request have seeds of their own, of which the
// first is the request's.
func (w *Worker) Sample(ctx context.Context, owner string, stored *mint.Stored, r mint.Sample, seed uint64) (mint.Samples, error) {
	q, err := request(r, seed)
	if err != nil {
		return mint.Samples{}, err
	}
	if q.Adapter, err = w.adapter(stored); err != nil {
		return mint.Samples{}, err
	}
	q.Salt, q.Session, q.Yields = owner, owner, true
	places := int64(min(r.N, w.batch))
	if err := w.running.Acquire(ctx, places); err != nil {
		return mint.Samples{}, errs.Wrap(errs.Canceled, err, "the request was cancelled", "")
	}
	defer w.running.Release(places)
	s, err := w.e.Samples(ctx, q, r.N)
	if err != nil {
		return mint.Samples{}, err
	}
	out := mint.Samples{Sequences: make([]mint.Sequence, r.N), Cached: s.Usage.Cached}
	for i, answer := range s.Answers {
		out.Sequences[i] = sequence(answer, r)
	}
	out.PromptLogprobs, out.PromptTop = prompt(s.Prompt, r)
	out.Targets = targetLogprobs(s.Prompt, r)
	return out, nil
}

// request says in the engine's words what is asked for.
func request(r mint.Sample, seed uint64) (q engine.Request, err error) {
	q = engine.Request{Prompt: r.Prompt, MaxTokens: r.MaxTokens, IgnoreEOS: r.Stop.None, TopLogprobs: r.SampleTop,
		Sampling: sample.Params{Temperature: r.Temperature, TopK: max(r.TopK, 0), TopP: r.TopP, Seed: seed},
		Stop:     engine.Stops{Tokens: r.Stop.Tokens, Texts: r.Stop.Texts}}
	if r.PromptLogprobs || r.PromptTop > 0 || r.Targets != nil {
		q.ScorePrompt, q.PromptTop = true, r.PromptTop
		if r.PromptLast > 0 && r.Targets == nil {
			q.ScoreFrom = max(1, len(r.Prompt)-r.PromptLast)
		}
	}
	q.Targets, err = targets(r)
	return q, err
}

func sequence(tokens []engine.Token, r mint.Sample) mint.Sequence {
	s := mint.Sequence{Stop: mint.Length}
	for _, t := range tokens {
		s.Tokens = append(s.Tokens, t.ID)
		s.Logprobs = append(s.Logprobs, float32(t.Logprob))
		if r.SampleTop > 0 {
			s.Top = append(s.Top, scored(t.Top))
		}
		if t.Last && t.Reason == engine.Stop {
			s.Stop = mint.Stopped
		}
	}
	return s
}

// prompt gives the log probabilities of a prompt's tokens, after those before them; tokens
// are the last ones of the prompt.
func prompt(tokens []engine.PromptToken, r mint.Sample) (logprobs []float32, top [][]mint.Scored) {
	n := len(r.Prompt)
	if r.PromptLogprobs {
		logprobs = make([]float32, n)
		for i := range logprobs {
			logprobs[i] = float32(math.NaN())
		}
	}
	if r.PromptTop > 0 {
		top = make([][]mint.Scored, n)
	}
	for i, t := range tokens {
		at := n - len(tokens) + i
		if r.PromptLast > 0 && at < n-r.PromptLast {
			continue
		}
		if logprobs != nil {
			logprobs[at] = float32(t.Logprob)
		}
		if top != nil {
			top[at] = scored(t.Top)
		}
	}
	return logprobs, top
}

// targets reads the tokens [len(prompt)-1, K] whose log probabilities are asked for.
func targets(r mint.Sample) ([][]int32, error) {
	t := r.Targets
	if t == nil {
		return nil, nil
	}
	bad := errs.Newf(errs.InvalidRequest, "the targets are no whole numbers of the shape [%d, K]", len(r.Prompt)-1).In("target_prompt_logprobs")
	n, k := int64(len(r.Prompt)-1), int64(1)
	if len(t.Shape) == 2 {
		k = t.Shape[1]
	}
	if len(t.Shape) < 1 || len(t.Shape) > 2 || t.Shape[0] != n || k < 1 || k > engine.MaxTopLogprobs || int64(len(t.Ints)) != n*k {
		return nil, bad
	}
	rows := make([][]int32, n)
	for i, id := range t.Ints {
		if id < -1 || id > math.MaxInt32 {
			return nil, bad
		}
		rows[int64(i)/k] = append(rows[int64(i)/k], int32(id))
	}
	return rows, nil
}

func targetLogprobs(tokens []engine.PromptToken, r mint.Sample) *train.Tensor {
	if r.Targets == nil {
		return nil
	}
	out := &train.Tensor{Shape: r.Targets.Shape}
	for _, t := range tokens {
		for _, p := range t.Targets {
			out.Floats = append(out.Floats, float32(p))
		}
	}
	return out
}

func scored(all []sample.Logprob) []mint.Scored {
	out := make([]mint.Scored, len(all))
	for i, l := range all {
		out[i] = mint.Scored{Token: l.ID, Logprob: float32(l.Logprob)}
	}
	return out
}
