package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Pool runs short tasks on a fixed set of goroutines. The caller of Run is worker 0
// and works too. Every worker begins with a share of neighbouring tasks, so that it reads
// memory in one direction and, step after step, the same weights; who has finished takes
// over tasks from the end of another's share, so a slow or descheduled worker delays
// nobody. An idle worker polls for a moment, giving way to other goroutines, then parks.
//
// One Run at a time; further callers wait. A task must not call into its own pool.
type Pool struct {
	mu      sync.Mutex
	f       func(worker, task int) // of the open run; read only by holders of a claim
	base    int                    // number of the first task of the open run's shares
	workers []worker
	wg      sync.WaitGroup

	_      [cacheLine]byte
	left   atomic.Int64 // tasks of the open run that nobody has reported as done
	_      [cacheLine]byte
	closed atomic.Bool

	mm      matmulJob
	set     setJob
	att     attendJob
	attBack attendBackJob
	runMM   func(worker, task int) // bound once: a method value allocates
	runSet  func(worker, task int)
	runAtt  func(worker, task int)
	runPart func(worker, task int)
}

type worker struct {
	share  share
	parked atomic.Bool
	wake   chan struct{}
	ahead  aheadState
	buf    scratch
}

const (
	polls  = 64                     // pauses between two looks at the clock
	linger = 200 * time.Microsecond // how long an idle worker polls
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
		p.alone(tasks, f)
		return
	}
	for base := 0; base < tasks; base += maxTasks {
		p.open(base, min(tasks-base, maxTasks), f)
	}
}

// alone runs tasks that are not worth handing over, for a caller that holds mu.
func (p *Pool) alone(tasks int, f func(worker, task int)) {
	for t := range tasks {
		f(0, t)
	}
}

func (p *Pool) open(base, n int, f func(worker, task int)) {
	p.f, p.base = f, base
	p.left.Store(int64(n))
	for i := range p.workers {
		p.workers[i].share.open(i*n/len(p.workers), (i+1)*n/len(p.workers))
	}
	p.wakeAll()
	p.drain(0)
	for i := 0; p.left.Load() > 0; i++ {
		p.workers[0].idle()
		if i%polls == polls-1 {
			runtime.Gosched()
		}
	}
	p.f = nil
}

func (p *Pool) wakeAll() {
	for i := 1; i < len(p.workers); i++ {
		if w := &p.workers[i]; w.parked.Load() && w.parked.Swap(false) {
			w.wake <- struct{}{}
		}
	}
}
