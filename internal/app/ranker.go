package app

import (
	"context"
	"sync"

	"macaron/internal/engine/encoder"
	"macaron/internal/route/shortlist"
)

// openRanker sets up shortlists, with the configured encoder if there is one. The
// contract's descriptions are embedded in the background, also those that a change of the
// contract brings, so that no turn waits for them.
func (a *App) openRanker() error {
	r := &shortlist.Ranker{Failed: func(err error) { a.log.Warn("the encoder failed; words make the shortlist", "err", err) }}
	a.turns.Ranker = r
	path := a.cfg.Router.EmbeddingModel
	if path == "" {
		return nil
	}
	e, err := encoder.Open(path)
	if err != nil {
		return err
	}
	r.Embedder = e
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if s, err := a.catalogue.registry.Current(ctx, ""); err == nil && s.Contract.Router.Shortlist > 0 {
			r.Warm(ctx, s.Contract)
		}
	}()
	var later sync.WaitGroup
	r.Later = func(work func(context.Context)) { later.Go(func() { work(ctx) }) }
	a.onClose(func() error {
		cancel()
		<-done
		later.Wait()
		return e.Close()
	})
	return nil
}
