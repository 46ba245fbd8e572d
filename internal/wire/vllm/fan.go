package vllm

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
)

// job is one choice of an answer.
type job struct {
	index int
	req   backend.Request
	after *job          // the first choice of the same prompt: its keys and values are reused
	begun chan struct{} // closed when the prompt is in, or will never be
}

// jobs makes the choices of a request: n for each prompt, prompt by prompt. The draws of
// one prompt are independent: their seeds follow each other.
func (r *request) jobs(prompts [][]int32) []*job {
	var out []*job
	for p := range max(len(prompts), 1) {
		var first *job
		for i := range r.n {
			j := &job{index: len(out), req: r.Request, after: first, begun: make(chan struct{})}
			if prompts != nil {
				j.req.Tokens = prompts[p]
			}
			if s := r.Sampling.Seed; s != nil {
				j.req.Sampling.Seed = ptr(*s + int64(i))
			}
			if first == nil {
				first = j
			} else { // told once
				j.req.Wanted.Prompt, j.req.Wanted.PromptLogprobs = false, nil
			}
			out = append(out, j)
		}
	}
	return out
}

// sink writes an answer. Its methods are called by one goroutine.
type sink interface {
	// event takes the next event of a choice.
	event(index int, e chat.Event) error
	// idle is called when nothing has come for a while.
	idle() error
	// done ends the answer.
	done() error
}

// step is an event of a choice, or what ended it.
type step struct {
	index int
	event chat.Event
	err   error
}

// run generates the choices side by side, some at a time, and gives their events to the
// sink.
func (a *api) run(r *http.Request, jobs []*job, out sink) error {
	ctx, cancel := a.bounded(r.Context())
	steps := make(chan step)
	go func() {
		defer close(steps)
		a.generate(ctx, jobs, steps)
	}()
	defer func() {
		cancel()
		for range steps { // until every generator has ended
		}
	}()
	patience := time.NewTimer(a.Patience)
	defer patience.Stop()
	for open := len(jobs); open > 0; {
		select {
		case s, some := <-steps:
			if err := ended(ctx, s, some); err != nil {
				return err
			}
			if s.event.Finish != nil {
				open--
			}
			if err := out.event(s.index, s.event); err != nil {
				return errs.Wrap(errs.Canceled, err, "the client went away", "")
			}
		case <-patience.C:
			if err := out.idle(); err != nil {
				return errs.Wrap(errs.Canceled, err, "the client went away", "")
			}
		}
	}
	return out.done()
}

// ended is the error that ends an answer before its time.
func ended(ctx context.Context, s step, some bool) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errs.Wrap(errs.Canceled, ctx.Err(), "the answer took longer than this server allows", "ask for fewer tokens, or start it with a longer --request-timeout")
	case s.err != nil:
		return s.err
	case !some: // every generator has ended, and not with its finish
		return errs.Wrap(errs.Canceled, cmp.Or(context.Cause(ctx), context.Canceled), "the request was cancelled", "")
	}
	return nil
}

// bounded ends a request at its deadline.
func (a *api) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.Deadline == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, a.Deadline)
}

// generate runs the jobs; it returns when all have ended.
func (a *api) generate(ctx context.Context, jobs []*job, steps chan<- step) {
	var g errgroup.Group
	g.SetLimit(max(a.Width, 1))
	for _, j := range jobs {
		g.Go(func() error { a.one(ctx, j, steps); return nil })
	}
	_ = g.Wait() // errors go with the steps
}

// one runs a job. A later choice of a prompt waits until the first has its prompt in.
func (a *api) one(ctx context.Context, j *job, steps chan<- step) {
	if j.after != nil {
		select {
		case <-j.after.begun:
		case <-ctx.Done():
		}
	}
	begun := false
	begin := func() {
		if !begun {
			begun = true
			close(j.begun)
		}
	}
	defer begin()
	t := tally{meter: a.Meter, start: time.Now()}
	for e, err := range a.Engine.Generate(ctx, j.req) {
		if e.Choice != nil {
			e = a.spell(&j.req, e.Choice)
		}
		if e.Finish != nil && len(j.req.Choices) > 0 {
			e.Finish.Usage.OutputTokens = t.tokens
		}
		t.event(e)
		select {
		case steps <- step{j.index, e, err}:
			begin()
		case <-ctx.Done():
			return
		}
	}
}

// tally measures one answer.
type tally struct {
	meter       Meter
	start, last time.Time
	first       time.Duration
	tokens      int
}

func (t *tally) event(e chat.Event) {
	now := time.Now()
	n := len(e.Tokens)
	if e.Finish != nil {
		n = len(e.Finish.Tokens)
	}
	for i := range n {
		if t.tokens++; t.tokens == 1 {
			t.first = now.Sub(t.start)
		} else if i == 0 {
			t.meter.Token(now.Sub(t.last))
		} else {
			t.meter.Token(0)
		}
		t.last = now
	}
	if f := e.Finish; f != nil {
		t.meter.Answer(t.first, f.Queued, now.Sub(t.start), f.Usage.PromptTokens, f.Usage.OutputTokens)
	}
}
