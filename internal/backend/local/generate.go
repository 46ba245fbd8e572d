package local

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/engine"
)

// Generate makes one answer; see backend.Generator.
func (b *Backend) Generate(ctx context.Context, r backend.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		start := time.Now()
		if err := b.generate(ctx, &r, start, func(e chat.Event) bool { return yield(e, nil) }); err != nil {
			yield(chat.Event{}, err)
		}
	}
}

// generate sends events until the answer ends or send returns false.
func (b *Backend) generate(ctx context.Context, r *backend.Request, start time.Time, send func(chat.Event) bool) error {
	if err := b.refuse(r); err != nil {
		return err
	}
	p, err := b.encode(r)
	if err != nil {
		return err
	}
	q, err := b.request(ctx, r, p)
	if err != nil {
		return err
	}
	stream, err := b.eng.Submit(ctx, q)
	if err != nil {
		return err
	}
	w := b.newWriter(r, p.ids, q.Sampling, start, send)
	return w.run(stream)
}

// request is what the engine is asked for.
func (b *Backend) request(ctx context.Context, r *backend.Request, p prompt) (engine.Request, error) {
	c, err := language(r)
	if err != nil {
		return engine.Request{}, err
	}
	within, err := b.grammars.get(c)
	if err != nil {
		return engine.Request{}, err
	}
	if err := b.measure(&r.Overlay, p.ids); err != nil {
		return engine.Request{}, err
	}
	mix, over, release, err := b.adapters.mix(ctx, r)
	if err != nil {
		return engine.Request{}, err
	}
	d := r.Decoding
	q := engine.Request{Prompt: p.ids, Grammar: within, Whole: c.Whole, Mix: mix, Overlay: over, Release: release, Salt: r.Salt, Session: r.Session, MaxTokens: r.MaxTokens, Sampling: params(r.Sampling, d.Bias),
		IgnoreEOS: d.IgnoreEOS, MinTokens: d.MinTokens}
	q.NoLogprobs = !r.Sampling.Logprobs && !r.Wanted.TokenIDs
	if r.Sampling.Logprobs {
		q.TopLogprobs = r.Sampling.TopLogprobs
	}
	if n := r.Wanted.PromptLogprobs; n != nil {
		q.ScorePrompt, q.PromptTop = true, *n
	}
	for _, label := range r.Choices {
		q.Choices = append(q.Choices, b.eng.Tokenizer().Encode(label, false))
	}
	return q, nil
}

// run turns the stream into events.
func (w *writer) run(stream *engine.Stream) error {
	for first := true; ; first = false {
		t, err := stream.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil // the consumer ended it
			}
			return err
		}
		if first {
			w.usage(stream)
			w.send(chat.Event{Start: w.begin(stream)})
		}
		if t.Choice != nil {
			w.choice(t.Choice)
		} else {
			w.token(t)
		}
		if w.over {
			return nil
		}
		if t.Last || w.stopped {
			w.finish(stream, t)
			return nil
		}
	}
}
