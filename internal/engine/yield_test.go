package engine

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"macaron/internal/engine/kv"
)

// Whoever yields stands still while others run, but for one step of patience; every task
// moves in the end, and a newcomer who does not yield is admitted before all who do.
func TestWhatYieldsStandsStill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, now := kv.New(4000), time.Unix(1000, 0)
		l := &loop{rows: defaultRows}
		for i := range rapid.IntRange(1, 12).Draw(t, "tasks") {
			n := rapid.SampledFrom([]int{1, 2, 26, 33, 64, 65, 300}).Draw(t, "tokens")
			s := &task{tokens: make([]int32, n), yields: rapid.Bool().Draw(t, "yields")}
			s.seq, _ = c.Open(kv.Key{Salt: string(rune('a' + i))}, kv.Switch{}, s.tokens, 0, 10_000)
			l.running = append(l.running, s)
		}
		moved, along, steps := map[*task]bool{}, 0, 0
		for ; len(moved) < len(l.running); steps++ {
			if steps > 20*patience*len(l.running) {
				t.Fatal("a task never moves")
			}
			running, rows := l.due(now)
			others, yielding := 0, 0
			for _, p := range schedule(running, steps, rows) {
				moved[p.task] = true
				at := p.task.seq.Len()
				p.task.seq.Grow(at + p.n)
				p.task.seq.Commit(p.task.tokens[at : at+p.n]...)
				if p.task.pending() == 0 {
					p.task.tokens = append(p.task.tokens, 0) // it decodes on
				}
				if p.task.yields {
					yielding++
				} else {
					others++
				}
			}
			if others > 0 && yielding > 0 {
				along++
			}
			if others == 0 && yielding == 0 {
				t.Fatal("a step of nothing")
			}
		}
		if along > steps/patience+1 {
			t.Fatalf("in %d of %d steps what yields went along", along, steps)
		}
	})
}

func TestWhoDoesNotYieldIsAdmittedFirst(t *testing.T) {
	l := &loop{e: &Engine{opts: Options{MaxBatch: 8}}, places: map[string]int64{}}
	for i, yields := range []bool{true, true, false} {
		s := &task{yields: yields, key: kv.Key{Salt: string(rune('a' + i))}}
		l.arrive(s)
		l.queue = append(l.queue, s)
	}
	if i := l.next(); i != 2 {
		t.Errorf("the request %d is admitted first", i)
	}
	for range l.share() {
		l.running = append(l.running, &task{yields: true})
	}
	if i := l.next(); i != 2 {
		t.Errorf("beside those that yield, %d is admitted", i)
	}
	if l.queue = l.queue[:2]; l.next() != -1 {
		t.Error("those that yield take the places that newcomers shall find")
	}
}
