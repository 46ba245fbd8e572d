package engine

import (
	"context"
	"errors"
	"io"

	"golang.org/x/sync/errgroup"

	"macaron/internal/engine/sample"
	"macaron/internal/errs"
)

// MaxSamples bounds the answers to one prompt.
const MaxSamples = 1024

// Samples are several answers to one prompt.
type Samples struct {
	Answers [][]Token     // each with the token that ended it
	Prompt  []PromptToken // when the request asked for them
	Usage   Usage         // of the first answer
}

// Samples gives n answers to a prompt. Answer i has the seed sample.Nth(Seed, i), so that it
// is the same whatever n is. The prompt is computed and scored once: the others begin when
// the first has its first token, and read the prompt's keys and values. They run side by
// side, as many as the engine runs at once.
func (e *Engine) Samples(ctx context.Context, r Request, n int) (*Samples, error) {
	if r.Release != nil {
		defer r.Release()
	}
	if n < 1 || n > MaxSamples || len(r.Choices) > 0 {
		return nil, errs.Newf(errs.InvalidRequest, "%d samples are asked for; 1 to %d are possible, of answers without choices", n, MaxSamples).In("num_samples")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all, ctx := errgroup.WithContext(ctx) // one that fails ends the others
	all.SetLimit(e.opts.MaxBatch)
	r.Release = nil
	out := &Samples{Answers: make([][]Token, n)}
	first, err := e.Submit(ctx, r)
	if err != nil {
		return nil, err
	}
	begun, err := first.Next()
	if err != nil {
		return nil, err
	}
	all.Go(func() (err error) {
		out.Answers[0], err = rest(first, []Token{begun})
		return err
	})
	r.ScorePrompt, r.PromptTop, r.ScoreFrom, r.Targets = false, 0, 0, nil
	for i := 1; i < n; i++ {
		q := r
		q.Sampling.Seed = sample.Nth(r.Sampling.Seed, i)
		all.Go(func() error {
			s, err := e.Submit(ctx, q)
			if err == nil {
				out.Answers[i], err = rest(s, nil)
			}
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	out.Prompt, out.Usage = first.Prompt(), first.Usage()
	return out, nil
}

// rest appends what a stream still gives.
func rest(s *Stream, tokens []Token) ([]Token, error) {
	for {
		switch t, err := s.Next(); {
		case errors.Is(err, io.EOF):
			return tokens, nil
		case err != nil:
			return nil, err
		default:
			tokens = append(tokens, t)
		}
	}
}
