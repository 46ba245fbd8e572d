package upstream

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestASlotNeverServesTwoAdaptersWhenThereAreEnough(t *testing.T) {
	s := newSlots(8, 4) // ids 0-3, and the base as -1
	seen := map[int]int{}
	for round := range uint64(40) {
		for id := -1; id < 4; id++ {
			at, fresh, release, err := s.take(t.Context(), id, round)
			if err != nil {
				t.Fatal(err)
			}
			before, used := seen[at]
			if used && before != id || fresh != !used {
				t.Errorf("slot %d of %d is given to %d, fresh %v", at, before, id, fresh)
			}
			seen[at] = id
			release()
		}
	}
	if len(seen) != 8 {
		t.Errorf("%d of 8 slots are used", len(seen))
	}
}

func TestASharedSlotIsFreshForEachOtherAdapter(t *testing.T) {
	s := newSlots(1, 4)
	for i, step := range []struct {
		id    int
		fresh bool
	}{{0, true}, {0, false}, {1, true}, {1, false}, {-1, true}, {0, true}} {
		_, fresh, release, err := s.take(t.Context(), step.id, 7)
		if err != nil || fresh != step.fresh {
			t.Errorf("step %d: fresh %v, %v", i, fresh, err)
		}
		release()
	}
}

func TestASlotIsLentToOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, 1)
		_, _, release, err := s.take(t.Context(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error)
		go func() {
			_, _, release, err := s.take(t.Context(), 0, 0)
			if err == nil {
				defer release()
			}
			got <- err
		}()
		synctest.Wait()
		select {
		case <-got:
			t.Fatal("it was lent twice")
		default:
		}
		release()
		if err := <-got; err != nil {
			t.Error(err)
		}
		_, _, _, _ = s.take(t.Context(), 0, 0)
		gone, leave := context.WithCancelCause(t.Context())
		leave(errStopped)
		if _, _, _, err := s.take(gone, 0, 0); !errors.Is(err, errStopped) {
			t.Errorf("one that left waits on: %v", err)
		}
	})
}
