package app

import (
	"context"
	"iter"
	"sync"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
)

// late is a generator that is still being loaded: whoever asks waits for it.
type late struct {
	done chan struct{}
	once sync.Once
	gen  backend.Generator
	err  error
}

func newLate() *late { return &late{done: make(chan struct{})} }

// set ends the wait, with a generator or with the reason why there is none.
func (l *late) set(g backend.Generator, err error) {
	l.once.Do(func() {
		l.gen, l.err = g, err
		close(l.done)
	})
}

func (l *late) wait(ctx context.Context) error {
	select {
	case <-l.done:
		return l.err
	case <-ctx.Done():
		return errs.Wrap(errs.Canceled, context.Cause(ctx), "the wait for the model ended", "")
	}
}

// Generate implements backend.Generator.
func (l *late) Generate(ctx context.Context, r backend.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		if err := l.wait(ctx); err != nil {
			yield(chat.Event{}, err)
			return
		}
		l.gen.Generate(ctx, r)(yield)
	}
}

// Count implements backend.Counter, if the generator does.
func (l *late) Count(ctx context.Context, r backend.Request) (int, error) {
	if err := l.wait(ctx); err != nil {
		return 0, err
	}
	return backend.Count(ctx, l.gen, r)
}

// Encode implements backend.Tokenizer, if the generator does.
func (l *late) Encode(r backend.Request) ([]int32, error) {
	<-l.done
	return backend.Encode(l.gen, r)
}

// Continue implements backend.Tokenizer, if the generator does.
func (l *late) Continue(r backend.Request, at int, prompt, served []int32) ([]int32, bool, error) {
	<-l.done
	if t, can := l.gen.(backend.Tokenizer); can {
		return t.Continue(r, at, prompt, served)
	}
	return nil, false, nil
}

// Capabilities implements backend.Generator; it waits for the model, which comes or
// fails within the time of its loading.
func (l *late) Capabilities() backend.Capabilities {
	<-l.done
	if l.gen == nil {
		return backend.Capabilities{}
	}
	return l.gen.Capabilities()
}

// Ready implements backend.Generator.
func (l *late) Ready(ctx context.Context) error {
	select {
	case <-l.done:
	default:
		return errs.New(errs.UpstreamUnavailable, "the model is being loaded", "try again in a moment")
	}
	if l.err != nil {
		return l.err
	}
	return l.gen.Ready(ctx)
}
