package exam

import (
	"context"
	"sync"

	"macaron/internal/axe"
	"macaron/internal/bench/ui4a/stage"
	"macaron/internal/browser"
)

// onStage does so many pieces of work on several pages of a browser, of one of its own where
// none is given. A piece that fails is
// done once more on a new page, and is told that this is its last turn; what fails then ends
// the whole.
func onStage(ctx context.Context, b *browser.Browser, tabs, pieces int, do func(ctx context.Context, t *stage.Tab, piece int, last bool) error) error {
	if b == nil {
		var err error
		if b, err = browser.Start(ctx); err != nil {
			return err
		}
		defer b.Close()
	}
	s, err := stage.Open(b, axe.Script)
	if err != nil {
		return err
	}
	defer s.Close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan int)
	var work sync.WaitGroup
	for range max(1, tabs) {
		work.Go(func() {
			if err := worker(ctx, s, next, do); err != nil {
				stop(err)
			}
		})
	}
	for i := range pieces {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	work.Wait()
	return context.Cause(ctx)
}

// worker has one page.
func worker(ctx context.Context, s *stage.Stage, next <-chan int, do func(context.Context, *stage.Tab, int, bool) error) error {
	t, err := s.Tab()
	if err != nil {
		return err
	}
	defer func() { t.Close() }()
	for i := range next {
		if err := do(ctx, t, i, false); err == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		t.Close()
		if t, err = s.Tab(); err != nil {
			return err
		}
		if err := do(ctx, t, i, true); err != nil {
			return err
		}
	}
	return nil
}
