package engine

import (
	"fmt"
	"math"

	"macaron/internal/engine/sample"
	"macaron/internal/errs"
)

// bounds refuses counts that have no meaning.
func (r *Request) bounds() error {
	for _, f := range []struct {
		name     string
		n, limit int
	}{
		{"top_logprobs", r.TopLogprobs, MaxTopLogprobs}, {"prompt_logprobs", r.PromptTop, MaxTopLogprobs},
		{"max_tokens", r.MaxTokens, math.MaxInt32}, {"min_tokens", r.MinTokens, math.MaxInt32},
	} {
		if f.n < 0 || f.n > f.limit {
			return errs.New(errs.InvalidRequest, fmt.Sprintf("%s is %d", f.name, f.n), fmt.Sprintf("give a value from 0 to %d", f.limit)).In(f.name)
		}
	}
	if r.MaxTokens > 0 && r.MinTokens > r.MaxTokens {
		return errs.Newf(errs.InvalidRequest, "min_tokens is %d, more than max_tokens, which is %d", r.MinTokens, r.MaxTokens).In("min_tokens")
	}
	if r.ScorePrompt && len(r.Choices) > 0 {
		return errs.New(errs.Unsupported, "the tokens of a prompt are not scored where its answer is one of several texts", "ask for either").In("prompt_logprobs")
	}
	return nil
}

// check refuses tokens that the model does not have or that leave no room for more.
func (e *Engine) check(tokens []int32, more int) error {
	if len(tokens) == 0 {
		return errs.New(errs.InvalidRequest, "the prompt is empty", "give at least one token").In("prompt")
	}
	if n := len(tokens) + more; n > e.opts.Context {
		err := errs.Newf(errs.ContextExceeded, "the prompt has %d tokens and needs room for %d more; the context holds %d", len(tokens), more, e.opts.Context)
		err.Next = "shorten the conversation"
		return err
	}
	return e.checkIDs(tokens)
}

func (e *Engine) checkIDs(tokens []int32) error {
	for i, t := range tokens {
		if t < 0 || int(t) >= e.model.V {
			return errs.Newf(errs.InvalidRequest, "token %d at position %d is not in the vocabulary of %d", t, i, e.model.V).In("prompt")
		}
	}
	return nil
}

// checkBias refuses what would be added to the logit of no token.
func (e *Engine) checkBias(bias []sample.Bias) error {
	for _, b := range bias {
		if b.ID < 0 || int(b.ID) >= e.model.V {
			return errs.Newf(errs.InvalidRequest, "token %d is not in the vocabulary of %d", b.ID, e.model.V).In("logit_bias")
		}
	}
	return nil
}

// checkScored refuses stops and positions of the prompt that are not there.
func (e *Engine) checkScored(r *Request) error {
	if err := r.Stop.check(e.model.V); err != nil {
		return err
	}
	n := len(r.Prompt)
	if r.ScoreFrom < 0 || r.ScoreFrom > n || !r.ScorePrompt && (r.ScoreFrom > 0 || len(r.Targets) > 0) {
		return errs.Newf(errs.InvalidRequest, "scoring begins at token %d of a prompt of %d", r.ScoreFrom, n).In("prompt_logprobs")
	}
	if len(r.Targets) > 0 && len(r.Targets) != n-1 {
		return errs.Newf(errs.InvalidRequest, "there are targets for %d positions; a prompt of %d tokens has %d that are followed by another", len(r.Targets), n, n-1).In("target_prompt_logprobs")
	}
	for i, list := range r.Targets {
		for _, t := range list {
			if t < -1 || int(t) >= e.model.V {
				return errs.Newf(errs.InvalidRequest, "the target %d at position %d is not in the vocabulary of %d", t, i, e.model.V).In("target_prompt_logprobs")
			}
		}
	}
	return nil
}

// fits refuses what could never run.
func (e *Engine) fits(t *task) error {
	limit := t.limit
	if t.choice != nil {
		limit = t.choice.limit
	}
	return e.loop.cache.Fits(limit)
}
