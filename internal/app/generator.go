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
		if err != nil {
			a.log.Error("the model cannot be loaded", "model", a.cfg.Model, "err", err)
		}
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

var _ backend.Generator = (*late)(nil)
