package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/kv"
	"macaron/internal/errs"
)

// TestSessionsTakeTurns: whatever waits, between two admissions of one session every
// other that waited the whole time is admitted, within a session the oldest first, and no
// session has more than its share of what runs.
func TestSessionsTakeTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &loop{e: &Engine{opts: Options{MaxBatch: rapid.IntRange(1, 6).Draw(t, "batch")}}, places: map[string]int64{}}
		arrived, step := 0, 0
		since := map[*task]int{}   // when it began to wait
		last := map[string]int{}   // when a session was admitted
		oldest := map[string]int{} // the number of its request that was admitted
		number := map[*task]int{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			step++
			switch rapid.IntRange(0, 2).Draw(t, "op") {
			case 0:
				n := &task{key: kv.Key{Salt: fmt.Sprint(step)}, session: rapid.SampledFrom([]string{"", "a", "a", "a", "b", "c"}).Draw(t, "session")}
				arrived++
				since[n], number[n] = step, arrived
				l.arrive(n)
				l.queue = append(l.queue, n)
			case 1:
				if len(l.running) > 0 {
					i := rapid.IntRange(0, len(l.running)-1).Draw(t, "ends")
					l.running = append(l.running[:i:i], l.running[i+1:]...)
				}
			default:
				i := l.next()
				if i < 0 || len(l.running) == l.e.opts.MaxBatch {
					continue
				}
				n := l.queue[i]
				l.queue = append(l.queue[:i:i], l.queue[i+1:]...)
				l.running = append(l.running, n)
				l.admitted(n.session)
				if n.session == "" {
					continue
				}
				if l.runningOf(n.session) > max(1, l.share()) {
					t.Fatalf("%d of %d are of one session", l.runningOf(n.session), l.e.opts.MaxBatch)
				}
				for _, w := range l.queue {
					if before := last[n.session]; before > 0 && w.session != n.session && since[w] < before && last[w.session] < before && l.runningOf(w.session) < l.share() && (w.session == "" || last[w.session] > 0) {
						t.Fatalf("session %q was admitted twice while one of %q waited", n.session, w.session)
					}
				}
				if number[n] < oldest[n.session] {
					t.Fatalf("session %q: request %d after %d", n.session, number[n], oldest[n.session])
				}
				last[n.session], oldest[n.session] = step, number[n]
			}
		}
	})
}

// TestOneSessionDoesNotStarveAnother: with all sequences taken by a session that has many
// requests, another's single request is next.
func TestOneSessionDoesNotStarveAnother(t *testing.T) {
	e, err := prepare(context.Background(), Options{Model: enginetest.Model(t, 1), Threads: 1, MaxBatch: 4})
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	ask := func(session string, n int) {
		for i := range n {
			r := Request{Prompt: []int32{5}, MaxTokens: 3, IgnoreEOS: true, Session: session}
			r.Release = func() { order = append(order, fmt.Sprint(session, i)) }
			if _, err := e.Submit(context.Background(), r); err != nil {
				t.Fatal(err)
			}
		}
	}
	l := &e.loop
	ask("many", 8)
	l.take()
	l.admit()
	if len(l.running) != 3 {
		t.Errorf("one session runs %d of 4 sequences", len(l.running))
	}
	ask("one", 1)
	for l.take(); len(l.running)+len(l.queue) > 0; l.compute() {
		l.admit()
	}
	if diff := cmp.Diff("many0 many1 many2 one0 many3 many4 many5 many6 many7", strings.Join(order, " ")); diff != "" {
		t.Error(diff)
	}
	go l.run()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestCancelTakesEffectWithinOneToken: after the cancellation not one more row of the
// request is computed, neither of its answer nor of a long prompt.
func TestCancelTakesEffectWithinOneToken(t *testing.T) {
	e, err := prepare(context.Background(), Options{Model: enginetest.Model(t, 1), Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	l := &e.loop
	for name, r := range map[string]Request{"answer": {Prompt: []int32{5}, MaxTokens: 900, IgnoreEOS: true}, "prompt": {Prompt: make([]int32, 1000), Salt: "x"}} {
		ctx, cancel := context.WithCancel(context.Background())
		s, err := e.Submit(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		l.take()
		l.admit()
		l.compute()
		task := l.running[0]
		fed := task.seq.Len()
		cancel()
		if l.take(); fed == 0 || fed >= len(r.Prompt)+2 {
			t.Errorf("%s: %d tokens were fed in a step", name, fed)
		}
		l.drop()
		if len(l.running) != 0 || task.seq.Len() != fed {
			t.Errorf("%s: still running", name)
		}
		for {
			if _, err := s.Next(); err != nil {
				if errs.CodeOf(err) != errs.Canceled {
					t.Errorf("%s: %v", name, err)
				}
				break
			}
		}
	}
	go l.run()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestBackgroundWorkWaitsForRequests: no chunk begins while a request waits or runs, and a
// request that comes during one waits for this one only.
func TestBackgroundWorkWaitsForRequests(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), nil)
	var stream *Stream // set while a chunk runs, read by later chunks only
	began, goOn := make(chan struct{}), make(chan struct{})
	chunks, after := 0, 0
	finished := make(chan error)
	go func() {
		finished <- e.Background(context.Background(), func(p *kernel.Pool) bool {
			if chunks++; chunks == 3 {
				close(began)
				<-goOn
			}
			if chunks > 3 {
				if !stream.failed() {
					t.Error("a chunk runs beside a request")
				}
				after++
			}
			return after < 5
		})
	}()
	<-began
	s, err := e.Submit(context.Background(), Request{Prompt: []int32{5, 6, 7}, MaxTokens: 40, IgnoreEOS: true})
	if err != nil {
		t.Fatal(err)
	}
	stream = s
	close(goOn)
	if out, err := collect(s); err != nil || len(out) != 40 {
		t.Errorf("%d tokens, %v", len(out), err)
	}
	if err := <-finished; err != nil || chunks != 8 {
		t.Errorf("%d chunks, %v", chunks, err)
	}
	generate(t, e, Request{Prompt: []int32{5}, MaxTokens: 1})
	if got := e.Stats(); got.Chunks != 8 || got.Background <= 0 {
		t.Errorf("%+v", got)
	}
}

func TestBackgroundWorkEnds(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), nil)
	turns := make(chan string, 1000)
	job := func(name string) func(*kernel.Pool) bool {
		return func(*kernel.Pool) bool {
			select {
			case turns <- name:
			default:
			}
			return true
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- e.Background(ctx, job("a")) }()
	for <-turns != "a" { // it runs
	}
	go func() { ended <- e.Background(context.Background(), job("b")) }()
	for <-turns != "b" { // the other one, too
	}
	cancel()
	if err := <-ended; errs.CodeOf(err) != errs.Canceled {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; errs.CodeOf(err) != errs.UpstreamUnavailable {
		t.Error(err)
	}
	if err := e.Background(context.Background(), job("c")); errs.CodeOf(err) != errs.UpstreamUnavailable {
		t.Error(err)
	}
}
