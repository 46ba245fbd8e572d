package app

import (
	"context"
	"io"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
)

// late is a generator that is still being loaded: whoever asks waits for it. Another may
// take its place later; what is being generated then goes on with the one before.
type late struct {
	done chan struct{}
	once sync.Once
	now  atomic.Pointer[backend.Generator]
	err  error
}

// beingLoaded is what is said before the model is there.
func beingLoaded() *errs.Error {
	e := errs.New(errs.ModelLoading, "the model is being loaded", "try again in a moment")
	e.RetryAfter = time.Second
	return e
}

func newLate() *late { return &late{done: make(chan struct{})} }

// set ends the wait, with a generator or with the reason why there is none.
func (l *late) set(g backend.Generator, err error) {
	l.once.Do(func() {
		if g != nil {
			l.now.Store(&g)
		}
		l.err = err
		close(l.done)
	})
}

// gen is the generator, or nil when there is none, yet or ever.
func (l *late) gen() backend.Generator {
	if g := l.now.Load(); g != nil {
		return *g
	}
	return nil
}

// swap puts another in the place of the one that is there.
func (l *late) swap(g backend.Generator) (before backend.Generator) {
	if was := l.now.Swap(&g); was != nil {
		return *was
	}
	return nil
}

// Close frees the generator, if that holds anything.
func (l *late) Close() error {
	if c, ok := l.gen().(io.Closer); ok {
		return c.Close()
	}
	return nil
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
		l.gen().Generate(ctx, r)(yield)
	}
}

// Count implements backend.Counter, if the generator does.
func (l *late) Count(ctx context.Context, r backend.Request) (int, error) {
	if err := l.wait(ctx); err != nil {
		return 0, err
	}
	return backend.Count(ctx, l.gen(), r)
}

// Encode implements backend.Tokenizer, if the generator does.
func (l *late) Encode(r backend.Request) ([]int32, error) {
	<-l.done
	return backend.Encode(l.gen(), r)
}

// Continue implements backend.Tokenizer, if the generator does.
func (l *late) Continue(r backend.Request, at int, prompt, served []int32) ([]int32, bool, error) {
	<-l.done
	if t, can := l.gen().(backend.Tokenizer); can {
		return t.Continue(r, at, prompt, served)
	}
	return nil, false, nil
}

// Capabilities implements backend.Generator; it waits for the model, which comes or
// fails within the time of its loading.
func (l *late) Capabilities() backend.Capabilities {
	<-l.done
	if g := l.gen(); g != nil {
		return g.Capabilities()
	}
	return backend.Capabilities{}
}

// CapabilitiesOf implements backend.Divided, if the generator does.
func (l *late) CapabilitiesOf(adapter string) backend.Capabilities {
	<-l.done
	if g := l.gen(); g != nil {
		return backend.CapabilitiesOf(g, adapter)
	}
	return backend.Capabilities{}
}

// Ready implements backend.Generator.
func (l *late) Ready(ctx context.Context) error {
	select {
	case <-l.done:
	default:
		return beingLoaded()
	}
	if l.err != nil {
		return l.err
	}
	return l.gen().Ready(ctx)
}
