package lora

import (
	"context"
	"sync"
	"testing"
	"time"

	"macaron/internal/errs"
)

// waiting returns when n callers wait for room.
func waiting(s *Store, n int) {
	for s.Stats().Waiting != n {
		time.Sleep(time.Millisecond)
	}
}

func TestAcquireWaitsForRoom(t *testing.T) {
	s := NewStore(base(), 2*sizeOf(t))
	var all []*Handle
	for n := range 3 {
		all = append(all, register(t, s, numbered(t, byte(n))))
	}
	_, release := acquire(t, all[0])
	_, releaseTwo := acquire(t, all[1])
	type taken struct {
		adapters []*Adapter
		release  func()
		err      error
	}
	done := make(chan taken)
	go func() {
		a, r, err := s.Acquire(context.Background(), all[2], all[0])
		done <- taken{a, r, err}
	}()
	waiting(s, 1)
	ctx, cancel := context.WithCancel(context.Background())
	other := make(chan error)
	go func() {
		_, _, err := s.Acquire(ctx, all[2])
		other <- err
	}()
	waiting(s, 2)
	cancel()
	if err := <-other; errs.CodeOf(err) != errs.Canceled {
		t.Errorf("a caller that gave up: %v", err)
	}
	release() // the first is still wanted, the second in use
	waiting(s, 1)
	releaseTwo()
	got := <-done
	if got.err != nil || len(got.adapters) != 2 || got.adapters[1].Key != all[0].key {
		t.Fatalf("%+v", got)
	}
	got.release()
	if st := s.Stats(); st.Pinned != 0 || st.Waiting != 0 || s.pinned != 0 {
		t.Errorf("%+v, %d bytes in use", st, s.pinned)
	}
	if _, _, err := s.Acquire(context.Background(), all...); errs.CodeOf(err) != errs.Overloaded {
		t.Errorf("three where two have room: %v", err)
	}
	if _, _, err := s.Acquire(context.Background()); err != nil {
		t.Errorf("none: %v", err)
	}
}

// TestUnloadWakesThoseWhoWait: for an adapter that they cannot have any more.
func TestUnloadWakesThoseWhoWait(t *testing.T) {
	s := NewStore(base(), sizeOf(t))
	held, wanted := register(t, s, numbered(t, 1)), register(t, s, numbered(t, 2))
	_, release := acquire(t, held)
	defer release()
	done := make(chan error)
	go func() {
		_, _, err := s.Acquire(context.Background(), wanted)
		done <- err
	}()
	waiting(s, 1)
	wanted.Unload()
	if err := <-done; errs.CodeOf(err) != errs.AdapterNotFound {
		t.Error(err)
	}
}

// TestAcquireDoesNotDeadlock: pairs in both orders, with room for one pair.
func TestAcquireDoesNotDeadlock(t *testing.T) {
	s := NewStore(base(), 2*sizeOf(t))
	var all []*Handle
	for n := range 4 {
		all = append(all, register(t, s, numbered(t, byte(n))))
	}
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			for i := range 30 {
				a, release, err := s.Acquire(context.Background(), all[(w+i)%4], all[(w+2*i+1)%4])
				if err != nil || a[0].Key != all[(w+i)%4].key {
					t.Errorf("%v", err)
					return
				}
				release()
			}
		})
	}
	wg.Wait()
	if st := s.Stats(); st.Pinned != 0 || s.pinned != 0 || st.Bytes > st.Limit {
		t.Errorf("%+v", st)
	}
}
