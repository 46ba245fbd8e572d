package kernel

import (
	"runtime"
	"sync/atomic"
	"time"
)

// share is the tasks of a run that are one worker's first: number of the run<<32 | first
// one left<<16 | end of those left. The owner claims from the front, others from the end.
type share struct {
	_     [cacheLine]byte
	state atomic.Uint64
	_     [cacheLine]byte
}

const maxTasks = 1<<16 - 1

// open begins the next run; nobody holds a claim of the last one.
func (s *share) open(first, end int) {
	s.state.Store((s.run()+1)<<32 | uint64(first)<<16 | uint64(end))
}

func (s *share) run() uint64 { return s.state.Load() >> 32 }

// claim takes one task, if there is one left.
func (s *share) claim(owner bool) (task int, ok bool) {
	for {
		v := s.state.Load()
		first, end := v>>16&maxTasks, v&maxTasks
		if first >= end {
			return 0, false
		}
		if owner && s.state.CompareAndSwap(v, v+1<<16) {
			return int(first), true
		}
		if !owner && s.state.CompareAndSwap(v, v-1) {
			return int(end - 1), true
		}
	}
}

// drain runs tasks until none is left, its own first, and reports them together. Fields
// of the run are read after a claim only: a claim that is not reported keeps the run open.
func (p *Pool) drain(w int) {
	done := 0
	for i := range p.workers {
		victim := &p.workers[(w+i)%len(p.workers)].share
		for {
			task, ok := victim.claim(i == 0)
			if !ok {
				break
			}
			p.f(w, p.base+task)
			done++
		}
	}
	if done > 0 {
		p.left.Add(-int64(done))
	}
}

func (p *Pool) loop(i int) {
	defer p.wg.Done()
	w := &p.workers[i]
	seen := uint64(0) // a run opened before this goroutine started counts too
	for {
		p.await(w, seen)
		if p.closed.Load() {
			return
		}
		seen = w.share.run()
		p.drain(i)
	}
}

// await returns when a run after seen was opened or the pool was closed.
func (p *Pool) await(w *worker, seen uint64) {
	fresh := func() bool { return w.share.run() != seen || p.closed.Load() }
	for start := time.Now(); time.Since(start) < linger; runtime.Gosched() {
		for range polls {
			if fresh() {
				return
			}
			w.idle()
		}
	}
	w.parked.Store(true)
	if fresh() && w.parked.Swap(false) {
		return // opened in between, and nobody has sent a wake-up
	}
	<-w.wake
}

// idle spends a moment usefully, or just spends it.
func (w *worker) idle() {
	if !w.ahead.fetch() {
		pause()
	}
}
