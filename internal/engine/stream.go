package engine

import (
	"context"
	"io"
	"sync"
	"time"

	"macaron/internal/engine/lora"
	"macaron/internal/engine/sample"
	"macaron/internal/errs"
)

// Token is one step of a stream.
type Token struct {
	ID      int32
	Logprob float64          // under the model's own distribution
	Top     []sample.Logprob // the likeliest, when asked for
	Last    bool
	Reason  Reason  // of the last token
	Choice  *Choice // the result of a choice, which has no ID
}

// PromptToken is a token of the prompt as the model saw it coming.
type PromptToken struct {
	ID      int32
	Logprob float64 // under the model's own distribution, after the tokens before it
	Rank    int     // 1 for the likeliest
	Top     []sample.Logprob
	Targets []float64 // of Request.Targets at the position before it; NaN where one is -1
}

// Reason says why an answer ended.
type Reason string

// The reasons.
const (
	Stop   Reason = "stop"   // the model ended its turn, or met one of Request.Stop
	Length Reason = "length" // MaxTokens, or the context, is used up
)

// Choice is the label taken and every label's probability, in the order given.
type Choice struct {
	Index         int
	Probabilities []float64
}

// Usage is what a request took so far.
type Usage struct {
	Prompt, Cached int           // tokens of the prompt, and those of them whose keys and values were reused
	Output         int           // tokens sampled
	Queued         time.Duration // until the request began to run
	First          time.Duration // until the first token

	// Overlay is how many tokens of the prompt other adapters computed (Request.Overlay);
	// when it is not 0 the answer is approximate.
	Overlay int
	// Dormant: the adapter waits for invocation tokens, the prompt has none, and the base
	// answered alone.
	Dormant bool
}

// adapt notes what became of a request's adapters.
func (u *Usage) adapt(w *weights, a *lora.Adapter, m lora.Mix) {
	if w.over {
		u.Overlay = w.from
	}
	u.Dormant = len(w.mix) == 0 && (a != nil && len(a.Invocation) > 0 || activated(m))
}

// Stream delivers the tokens of a request. One goroutine reads it.
type Stream struct {
	ctx       context.Context
	submitted time.Time
	ready     chan struct{}
	release   func() // of the request's adapters; acts once

	mu     sync.Mutex
	tokens []Token
	err    error // after tokens; io.EOF for a good end
	usage  Usage
	prompt []PromptToken
}

func newStream(ctx context.Context) *Stream {
	return &Stream{ctx: ctx, ready: make(chan struct{}, 1), release: func() {}}
}

// Next gives the next token. After the last one it gives io.EOF; an error ends the
// stream for good.
func (s *Stream) Next() (Token, error) {
	for {
		s.mu.Lock()
		if len(s.tokens) > 0 {
			t := s.tokens[0]
			s.tokens = s.tokens[1:]
			s.mu.Unlock()
			return t, nil
		}
		err := s.err
		s.mu.Unlock()
		if err != nil {
			return Token{}, err
		}
		select {
		case <-s.ready:
		case <-s.ctx.Done():
			return Token{}, canceled(s.ctx)
		}
	}
}

// Usage is what the request took; complete after the last token.
func (s *Stream) Usage() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.usage
}

// Prompt gives the prompt's tokens from the second, or Request.ScoreFrom, on, when the request asked for them;
// complete with the first token.
func (s *Stream) Prompt() []PromptToken {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prompt
}

func (s *Stream) score(p PromptToken) {
	s.mu.Lock()
	s.prompt = append(s.prompt, p)
	s.mu.Unlock()
}

func canceled(ctx context.Context) error {
	return errs.Wrap(errs.Canceled, context.Cause(ctx), "the request was cancelled", "")
}

// push adds a token; after the last one the stream ends.
func (s *Stream) push(t Token) {
	s.mu.Lock()
	if s.usage.First == 0 {
		s.usage.First = time.Since(s.submitted)
	}
	if t.Choice == nil {
		s.usage.Output++
	}
	s.tokens = append(s.tokens, t)
	if t.Last {
		s.err = io.EOF
	}
	s.mu.Unlock()
	if t.Last {
		s.release()
	}
	s.signal()
}

// fail ends the stream with an error.
func (s *Stream) fail(err error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = err
	}
	s.mu.Unlock()
	s.release()
	s.signal()
}

func (s *Stream) started(prompt, cached int) {
	s.mu.Lock()
	s.usage.Prompt, s.usage.Cached, s.usage.Queued = prompt, cached, time.Since(s.submitted)
	s.mu.Unlock()
}

func (s *Stream) signal() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// failed tells whether the stream ended early.
func (s *Stream) failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil
}
