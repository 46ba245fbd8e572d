package app

import (
	"context"
	"io"

	"macaron/internal/backend"
	"macaron/internal/backend/upstream"
)

// openGenerator starts what answers: the one that was given, the configured
// upstream, or the embedded engine, which loads in the background.
func (a *App) openGenerator(opts Options) error {
	a.generator = newLate()
	switch {
	case opts.Generator != nil:
		a.generator.set(opts.Generator, nil)
	case a.cfg.Upstream.URL != "":
		u := a.cfg.Upstream
		b := upstream.New(upstream.Config{URL: u.URL, Key: u.Key.Reveal(), Dialect: u.Dialect, Models: u.Models, Timeout: u.Timeout})
		a.onClose(b.Close)
		a.generator.set(b, nil)
	default:
		a.loadEngine()
	}
	return nil
}

// loadEngine loads the model in the background; Close waits for the load to end and
// then frees the engine.
func (a *App) loadEngine() {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		g, err := a.embedded(ctx)
		settleHeap()
		a.noteLoad(ctx, err)
		a.generator.set(g, err)
	}()
	a.onClose(func() error {
		cancel()
		<-a.generator.done
		if c, ok := a.generator.gen.(io.Closer); ok {
			return c.Close()
		}
		return nil
	})
}

// noteLoad tells the operator why there is no model. A load that Close cut short is no
// fault: then something else is told already.
func (a *App) noteLoad(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		a.log.Error("the model cannot be loaded", "model", a.cfg.Model, "err", err)
	}
}

var _ backend.Generator = (*late)(nil)
