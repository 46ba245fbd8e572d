package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Pool runs short tasks on a fixed set of goroutines. The caller of Run is worker 0
// and works too. Tasks are claimed one by one, so a slow or descheduled worker delays
// nobody: the caller takes what is left. An idle worker polls for a moment, giving way
// to other goroutines, then parks.
//
// One Run at a time; further callers wait. A task must not call into its own pool.
type Pool struct {
	mu      sync.Mutex
	f       func(worker, task int) // of the open run; read only by holders of a claim
	base    int                    // task number of claim 0
	workers []worker
	wg      sync.WaitGroup

	_      [cacheLine]byte
	ticket atomic.Uint64 // run<<32 | tasks<<16 | next claim
	_      [cacheLine]byte
	left   atomic.Int64 // unfinished tasks of the open run
	_      [cacheLine]byte
	closed atomic.Bool

	mm      matmulJob
	set     setJob
	att     attendJob
	runMM   func(worker, task int) // bound once: a method value allocates
	runSet  func(worker, task int)
	runAtt  func(worker, task int)
	runPart func(worker, task int)
}

type worker struct {
	parked atomic.Bool
	wake   chan struct{}
	buf    scratch
	_      [cacheLine]byte
}

const (
	maxClaims = 1<<16 - 1
	polls     = 64                     // pauses between two looks at the clock
	linger    = 200 * time.Microsecond // how long an idle worker polls
)

// NewPool starts a pool of the given number of threads, at least one.
func NewPool(threads int) *Pool {
	p := &Pool{workers: make([]worker, max(threads, 1))}
	p.runMM, p.runSet, p.runAtt, p.runPart = p.mm.run, p.set.run, p.att.run, p.att.runPart
	p.mm.pool, p.att.pool = p, p
	for i := 1; i < len(p.workers); i++ {
		p.workers[i].wake = make(chan struct{}, 1)
		p.wg.Add(1)
		go p.loop(i)
	}
	return p
}

// Threads is the number of workers, the caller of Run included.
func (p *Pool) Threads() int { return len(p.workers) }

// Close ends the workers. Run must not be called afterwards.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Swap(true) {
		return
	}
	p.wakeAll()
	p.wg.Wait()
}

// Run calls f(worker, task) for every task in [0, tasks), each once, in no fixed
// order, and returns when all have returned. worker is in [0, Threads()) and never
// runs two tasks at a time.
func (p *Pool) Run(tasks int, f func(worker, task int)) {
	p.mu.Lock()
	p.run(tasks, f)
	p.mu.Unlock()
}

// run is Run for a caller that holds mu.
func (p *Pool) run(tasks int, f func(worker, task int)) {
	if p.closed.Load() {
		panic("kernel: Run on a closed Pool")
	}
	if tasks == 1 || len(p.workers) == 1 {
		for t := range tasks {
			f(0, t)
		}
		return
	}
	for base := 0; base < tasks; base += maxClaims {
		p.open(base, min(tasks-base, maxClaims), f)
	}
}

func (p *Pool) open(base, n int, f func(worker, task int)) {
	p.f, p.base = f, base
	p.left.Store(int64(n))
	run := p.ticket.Load()>>32 + 1
	p.ticket.Store(run<<32 | uint64(n)<<16)
	p.wakeAll()
	p.drain(0)
	for i := 0; p.left.Load() > 0; i++ {
		pause()
		if i%polls == polls-1 {
			runtime.Gosched()
		}
	}
	p.f = nil
}

// drain claims and runs tasks until none is left. Fields of the run are read after
// the claim only: a held claim keeps the run open.
func (p *Pool) drain(w int) {
	for {
		t := p.ticket.Load()
		next, n := t&maxClaims, t>>16&maxClaims
		if next >= n {
			return
		}
		if p.ticket.CompareAndSwap(t, t+1) {
			p.f(w, p.base+int(next))
			p.left.Add(-1)
		}
	}
}

func (p *Pool) wakeAll() {
	for i := 1; i < len(p.workers); i++ {
		if w := &p.workers[i]; w.parked.Load() && w.parked.Swap(false) {
			w.wake <- struct{}{}
		}
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
		seen = p.ticket.Load() >> 32
		p.drain(i)
	}
}

// await returns when a run after seen was opened or the pool was closed.
func (p *Pool) await(w *worker, seen uint64) {
	fresh := func() bool { return p.ticket.Load()>>32 != seen || p.closed.Load() }
	for start := time.Now(); time.Since(start) < linger; runtime.Gosched() {
		for range polls {
			if fresh() {
				return
			}
			pause()
		}
	}
	w.parked.Store(true)
	if fresh() && w.parked.Swap(false) {
		return // opened in between, and nobody has sent a wake-up
	}
	<-w.wake
}
