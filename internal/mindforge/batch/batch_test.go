package batch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
)

// Pieces that end in the opposite order are kept in theirs, and no more than so many are under way.
func TestOrder(t *testing.T) {
	const n, atOnce = 9, 3
	ended := make([]chan struct{}, n+1)
	for i := range ended {
		ended[i] = make(chan struct{})
	}
	var mu sync.Mutex
	now, most := 0, 0
	var kept []int
	err := Do(t.Context(), n, atOnce, func(_ context.Context, i int) error {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		if i%atOnce < atOnce-1 {
			<-ended[i+1] // the one behind is first
		}
		close(ended[i])
		mu.Lock()
		now--
		mu.Unlock()
		return nil
	}, func(i int) error {
		kept = append(kept, i)
		return nil
	})
	if err != nil || !slices.IsSorted(kept) || len(kept) != n || most > atOnce {
		t.Errorf("%v %v, %d at once", err, kept, most)
	}
}

// The first error in order is the one that is told, whenever it comes; what is behind is not kept.
func TestTheFirstErrorEndsIt(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	late := make(chan struct{})
	kept := 0
	err := Do(t.Context(), 6, 3, func(ctx context.Context, i int) error {
		switch i {
		case 1:
			<-late
			return first
		case 2:
			close(late)
			return second
		case 0:
			return nil
		}
		return ctx.Err()
	}, func(int) error { kept++; return nil })
	if !errors.Is(err, first) || kept != 1 {
		t.Errorf("%v, %d kept", err, kept)
	}
	full := errors.New("full")
	err = Do(t.Context(), 50, 4, func(context.Context, int) error { return nil }, func(i int) error {
		if i == 7 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) {
		t.Error(err)
	}
}
