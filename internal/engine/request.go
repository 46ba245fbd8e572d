package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"macaron/internal/engine/constrain"
	"macaron/internal/engine/grammar"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/sample"
	"macaron/internal/errs"
)

// Request asks for an answer to a prompt, or, with Choices, for one of them.
type Request struct {
	Prompt      []int32
	Adapter     *lora.Adapter // nil: the bare base
	Mix         lora.Mix      // several adapters added up, instead of Adapter
	Overlay     Overlay       // off by default; makes the answer approximate
	Release     func()        // called once when the adapters are not needed any more, by Submit when it refuses
	Salt        string        // cached prefixes are shared within one salt only
	Session     string        // requests of one session take turns with all others as one; empty: this one by itself
	Yields      bool          // gives way to requests that do not, see yield.go: for rollouts of a training
	MaxTokens   int           // at most; 0 or more than there is room for: until the context is full
	Sampling    sample.Params
	Choices     [][]int32        // labels without an end token; see package constrain
	Grammar     *grammar.Grammar // the answer stays within it, and ends where it may; made by Engine.Constraints
	Whole       bool             // with Grammar: the answer comes to an end of it before MaxTokens, which must be enough for its shortest text
	NoLogprobs  bool             // Token.Logprob may be no number: within a grammar most of the output head need not be computed then
	TopLogprobs int              // alternatives to report with each token
	IgnoreEOS   bool             // do not stop at the end of a turn: for measurements
	MinTokens   int              // the end of a turn is not sampled before so many tokens
	Stop        Stops            // what ends the answer beside the model's own ends of a turn
	ScorePrompt bool             // compute Stream.Prompt, with PromptTop alternatives at each position
	PromptTop   int
	ScoreFrom   int       // the first token of the prompt that is scored; 0 or 1: the second, the first that can be. What comes before may come from the cache
	Targets     [][]int32 // with ScorePrompt: tokens to score instead of Prompt[i+1] too, by position i; -1 skips one. Empty, or one list for each token of the prompt but the last
}

// MaxTopLogprobs bounds Request.TopLogprobs.
const MaxTopLogprobs = 64

// Submit queues a request. Its tokens come from the stream; ending ctx ends it within
// one token. An invalid request is refused here and never reaches the others.
func (e *Engine) Submit(ctx context.Context, r Request) (*Stream, error) {
	t, err := e.newTask(ctx, &r)
	if err == nil {
		err = e.enqueue(t)
	}
	if err != nil {
		if r.Release != nil {
			r.Release()
		}
		return nil, err
	}
	return t.stream, nil
}

// Score gives the natural-log probability of tokens[1:], each after those before it.
func (e *Engine) Score(ctx context.Context, tokens []int32, a *lora.Adapter) ([]float64, error) {
	return e.ScoreMix(ctx, tokens, lora.Only(a))
}

// ScoreMix is Score under a mixture of adapters. An activated adapter acts from the last
// occurrence of its invocation in all of tokens on.
func (e *Engine) ScoreMix(ctx context.Context, tokens []int32, m lora.Mix) ([]float64, error) {
	if err := e.check(tokens, 0); err != nil {
		return nil, err
	}
	if len(tokens) < 2 {
		return nil, nil
	}
	w, err := e.weigh(tokens, nil, m, Overlay{})
	if err != nil {
		return nil, err
	}
	t := &task{kind: scoring, ctx: ctx, weights: w, tokens: tokens[:len(tokens)-1], stream: newStream(ctx)}
	t.key, t.sw = w.cacheKey(e.model.Digest, "")
	t.limit = len(t.tokens)
	t.expect = tokens
	if err := e.enqueue(t); err != nil {
		return nil, err
	}
	if _, err := t.stream.Next(); err != nil {
		return nil, err
	}
	return t.scores, nil
}

// newTask checks a request and makes its first task.
func (e *Engine) newTask(ctx context.Context, r *Request) (*task, error) {
	if err := e.check(r.Prompt, 1); err != nil {
		return nil, err
	}
	w, err := e.weigh(r.Prompt, r.Adapter, r.Mix, r.Overlay)
	if err != nil {
		return nil, err
	}
	if err := r.Sampling.Check(); err != nil {
		return nil, err
	}
	if err := r.bounds(); err != nil {
		return nil, err
	}
	if err := e.checkBias(r.Sampling.Bias); err != nil {
		return nil, err
	}
	if err := e.checkScored(r); err != nil {
		return nil, err
	}
	t := &task{kind: answering, ctx: ctx, weights: w, session: r.Session, yields: r.Yields, sampling: r.Sampling,
		top: r.TopLogprobs, ignoreEOS: r.IgnoreEOS, tokens: append([]int32(nil), r.Prompt...), prompt: len(r.Prompt), stream: newStream(ctx)}
	t.key, t.sw = w.cacheKey(e.model.Digest, r.Salt)
	t.stream.usage.adapt(&w, r.Adapter, r.Mix)
	if r.Release != nil {
		t.stream.release = sync.OnceFunc(r.Release)
	}
	if err := e.constrain(t, r); err != nil {
		return nil, err
	}
	if len(r.Choices) > 0 {
		return t, e.plan(t, r.Choices)
	}
	room := e.opts.Context - len(r.Prompt)
	if t.left = r.MaxTokens; t.left == 0 || t.left > room {
		t.left = room
	}
	t.stops = newStopper(e.tok, r.Stop)
	t.limit = len(r.Prompt) + t.left
	t.need = len(t.tokens) - 1
	if r.ScorePrompt {
		t.need, t.scored, t.promptTop, t.targets = max(r.ScoreFrom-1, 0), true, r.PromptTop, r.Targets
	}
	if r.MinTokens > 0 {
		t.early, t.min = r.Sampling.Without(e.tok.EOG()), r.MinTokens
	}
	if !r.Sampling.Greedy() {
		t.history = sample.NewHistory(r.Prompt, e.tok.EOG())
	}
	return t, e.fits(t)
}

// plan turns a task into a choice.
func (e *Engine) plan(t *task, labels [][]int32) error {
	longest := 0
	for _, l := range labels {
		if err := e.checkIDs(l); err != nil {
			return err
		}
		longest = max(longest, len(l))
	}
	if e.end() < 0 {
		return errs.New(errs.Unsupported, "the model names no token that ends a text, so that labels have no exact probability", "use another model")
	}
	p, err := constrain.New(labels, e.end())
	if err != nil {
		return err
	}
	if err := e.check(t.tokens, longest+1); err != nil {
		return err
	}
	t.kind, t.choice = choosing, &choice{plan: p, rest: make([]float64, len(labels))}
	t.tokens = append(t.tokens, p.Prefix...)
	t.limit = len(t.tokens)
	t.need = len(t.tokens) - 1
	t.choice.limit = t.prompt + longest
	return e.fits(t)
}

// enqueue hands a task to the loop.
func (e *Engine) enqueue(t *task) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closing:
		return closingError()
	case e.waiting >= e.opts.MaxQueue:
		err := errs.New(errs.Overloaded, fmt.Sprintf("%d requests are waiting already", e.waiting), "try again in a moment")
		err.RetryAfter = e.retryAfter()
		return err
	}
	e.waiting++
	e.loop.published.Requests++
	t.stream.submitted = time.Now()
	e.incoming = append(e.incoming, t)
	e.nudge()
	return nil
}

// retryAfter estimates when a place in the queue is free: the mean time of a request
// so far times the requests ahead of each running one.
func (e *Engine) retryAfter() time.Duration {
	s := e.loop.published
	done := max(s.Requests-int64(e.waiting+s.Running), 1)
	mean := s.Busy / time.Duration(done)
	return min(max(mean, time.Second), 30*time.Second).Round(time.Second)
}
