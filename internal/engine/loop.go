package engine

import (
	"slices"
	"time"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/kv"
	"macaron/internal/engine/model"
	"macaron/internal/engine/sample"
)

// loop is what the one goroutine owns.
type loop struct {
	e         *Engine
	mode      kernel.Mode
	pool      *kernel.Pool
	cache     *kv.Cache // Fits is called by others, which reads only what never changes
	arena     *model.Arena
	step      *model.Step
	samplers  []sample.Sampler // by worker
	queue     []*task          // waiting, in the order of arrival; labels before others
	places    map[string]int64 // of sessions that wait, see queue.go
	clock     int64
	running   []*task
	turn      int
	passed    int       // steps in a row without the tasks that yield, which there were
	attended  time.Time // when a task that does not yield ran last
	rows      rowLimits
	runs      []model.Run
	parts     []part
	stretches []stretch // of parts, one for each of runs
	out       results
	stats     Stats
	published Stats // copy of stats, under Engine.mu
}

func (l *loop) init(e *Engine, mode kernel.Mode, pages int) {
	l.e, l.mode = e, mode
	l.pool = kernel.NewPool(e.opts.Threads)
	l.cache = kv.New(pages)
	l.rows = defaultRows
	l.places = map[string]int64{}
	l.arena = e.model.NewArena(pages, mode)
	l.step = e.model.NewStep(l.pool, l.arena)
	l.samplers = make([]sample.Sampler, e.opts.Threads)
	l.published.KVBytes = int64(pages) * e.model.PageBytes(mode)
	l.out.l = l
	l.out.bind()
}

// run repeats until the engine closes and nothing runs any more.
func (l *loop) run() {
	defer close(l.e.done)
	defer l.pool.Close()
	for {
		closing := l.take()
		l.drop()
		if closing {
			l.refuse()
			l.dismiss()
			if len(l.running)+len(l.queue) == 0 {
				return
			}
		}
		l.admit()
		l.publish()
		if len(l.running) == 0 {
			if !l.work() {
				<-l.e.wake
			}
			continue
		}
		start := time.Now()
		l.compute()
		l.stats.Busy += time.Since(start)
		l.stats.Steps++
	}
}

// take moves what was submitted into the queue.
func (l *loop) take() (closing bool) {
	l.e.mu.Lock()
	defer l.e.mu.Unlock()
	for _, t := range l.e.incoming {
		l.arrive(t)
	}
	l.queue = append(l.queue, l.e.incoming...)
	l.e.incoming = l.e.incoming[:0]
	return l.e.closing
}

// publish shows the statistics.
func (l *loop) publish() {
	l.stats.Running, l.stats.KV = len(l.running), l.cache.Stats()
	l.e.mu.Lock()
	l.stats.Requests, l.stats.KVBytes = l.e.loop.published.Requests, l.e.loop.published.KVBytes
	l.e.loop.published = l.stats
	waiting := len(l.e.incoming)
	for _, t := range l.queue {
		if t.kind != labelling {
			waiting++
		}
	}
	l.e.waiting = waiting
	l.e.mu.Unlock()
}

// drop ends the tasks whose caller has gone.
func (l *loop) drop() {
	gone := func(t *task) bool {
		if t.ctx.Err() == nil && !t.stream.failed() {
			return false
		}
		t.stream.fail(canceled(t.ctx))
		if t.seq != nil {
			t.seq.Close()
		}
		return true
	}
	l.queue = slices.DeleteFunc(l.queue, gone)
	l.running = slices.DeleteFunc(l.running, gone)
}

// refuse fails what waits; a choice that has begun goes on.
func (l *loop) refuse() {
	l.queue = slices.DeleteFunc(l.queue, func(t *task) bool {
		if t.kind == labelling {
			return false
		}
		t.stream.fail(closingError())
		return true
	})
}

// admit starts tasks of the queue, in turn, while there is room for them.
func (l *loop) admit() {
	for len(l.running) < l.e.opts.MaxBatch {
		i := l.next()
		if i < 0 {
			return
		}
		t := l.queue[i]
		seq, cp := l.cache.Open(t.key, t.sw, t.tokens, t.reuse(), t.limit)
		if seq == nil {
			return
		}
		if cp != nil {
			l.arena.Copy(cp.From, cp.To)
		}
		t.seq = seq
		if t.kind != labelling {
			t.stream.started(t.prompt, min(seq.Len(), t.prompt))
		}
		l.queue = slices.Delete(l.queue, i, i+1)
		l.running = append(l.running, t)
		l.admitted(t.session)
	}
}

// compute does one step and hands out its results.
func (l *loop) compute() {
	running, rows := l.due(time.Now())
	l.parts = schedule(running, l.turn, rows)
	l.turn++
	l.stretches = stretches(l.stretches[:0], l.parts)
	for _, p := range l.parts {
		p.task.seq.Grow(p.task.seq.Len() + p.n)
	}
	l.runs = l.runs[:0]
	for _, s := range l.stretches {
		l.runs = append(l.runs, model.Run{Tokens: s.task.tokens[s.pos : s.pos+s.n], Pos: s.pos, Pages: s.task.seq.Pages(), Mix: s.mix, Want: s.task.wanted(s.pos, s.n)})
	}
	hidden := l.step.Forward(l.runs)
	for _, p := range l.parts {
		l.count(p)
		pos := p.task.seq.Len()
		p.task.seq.Commit(p.task.tokens[pos : pos+p.n]...)
	}
	l.out.emit(hidden)
	l.running = slices.DeleteFunc(l.running, func(t *task) bool { return t.seq == nil })
}

func (l *loop) count(p part) {
	if p.task.kind == answering && p.task.seq.Len() >= p.task.prompt {
		return // a sampled token
	}
	l.stats.PromptTokens += int64(p.n)
}

// finish ends a task's sequence and leaves its pages to the cache.
func (l *loop) finish(t *task) {
	t.seq.Close()
	t.seq = nil
}
