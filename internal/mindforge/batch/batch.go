// Package batch does independent work several pieces at once and hands it over in the pieces'
// order, so that what comes of it does not depend on which piece was done first.
package batch

import (
	"context"
	"sync"
)

// Do does the pieces 0 to n-1, at most atOnce at a time, and keeps each when it and all before it
// are done. The error of the first piece that has one ends it: nothing behind that is kept. When Do
// returns, nothing of it goes on.
func Do(ctx context.Context, n, atOnce int, do func(ctx context.Context, i int) error, keep func(i int) error) error {
	ctx, stop := context.WithCancel(ctx)
	var going sync.WaitGroup
	defer going.Wait()
	defer stop()
	done := make([]chan error, n)
	for i := range done {
		done[i] = make(chan error, 1)
	}
	places := make(chan struct{}, max(1, atOnce))
	going.Go(func() {
		for i := range n {
			places <- struct{}{}
			going.Go(func() {
				err := ctx.Err()
				if err == nil {
					err = do(ctx, i)
				}
				done[i] <- err
				<-places
			})
		}
	})
	for i := range n {
		err := <-done[i]
		if err == nil {
			err = keep(i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
