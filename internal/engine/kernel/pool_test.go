package kernel

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestRunCallsEachTaskOnce, with more tasks than a share can number, and never two at a
// time on one worker.
func TestRunCallsEachTaskOnce(t *testing.T) {
	for _, threads := range []int{0, 1, 2, 5} {
		p := NewPool(threads)
		busy := make([]atomic.Bool, p.Threads())
		for _, tasks := range []int{0, 1, 2, 7, 1000, maxTasks + 5} {
			calls := make([]atomic.Int32, tasks)
			p.Run(tasks, func(worker, task int) {
				if busy[worker].Swap(true) {
					t.Errorf("worker %d runs two tasks at a time", worker)
				}
				calls[task].Add(1)
				busy[worker].Store(false)
			})
			for i := range calls {
				if n := calls[i].Load(); n != 1 {
					t.Fatalf("%d threads: task %d of %d ran %d times", threads, i, tasks, n)
				}
			}
		}
		p.Close()
		p.Close() // again does nothing
	}
}

// TestWorkersTakePart: tasks that wait for each other finish only if several workers
// run them, from a poll and after parking.
func TestWorkersTakePart(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	for range 3 {
		for range 100 {
			var both sync.WaitGroup
			both.Add(2)
			p.Run(2, func(_, _ int) { both.Done(); both.Wait() })
		}
		for !p.workers[1].parked.Load() {
			time.Sleep(linger)
		}
	}
}

// TestRunsTakeTurns: several callers share a pool.
func TestRunsTakeTurns(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	var sum atomic.Int64
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for range 200 {
				p.Run(8, func(_, task int) { sum.Add(int64(task)) })
			}
		})
	}
	callers.Wait()
	if sum.Load() != 4*200*28 {
		t.Fatalf("tasks add up to %d", sum.Load())
	}
}

func TestRunAfterCloseIsRefused(t *testing.T) {
	p := NewPool(2)
	p.Close()
	mustPanic(t, "Run after Close", func() { p.Run(1, func(_, _ int) {}) })
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}
