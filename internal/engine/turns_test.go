package engine

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/kernel"
	"macaron/internal/errs"
)

func TestPiecesOfManyTakeTurns(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), nil)
	const trainers, pieces = 3, 40
	var mu sync.Mutex
	var order []int
	var all, begin sync.WaitGroup
	begin.Add(trainers)
	for i := range trainers {
		all.Go(func() {
			begin.Done()
			begin.Wait()
			for range pieces {
				if err := e.Do(context.Background(), func(p *kernel.Pool) {
					p.Run(4, func(_, _ int) {})
					mu.Lock()
					defer mu.Unlock()
					order = append(order, i)
					if len(order) == 1 { // let the others ask before the first piece ends
						waitForJobs(t, e, trainers-1)
					}
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if len(order) != trainers*pieces {
		t.Fatalf("%d pieces ran, want %d", len(order), trainers*pieces)
	}
	if order[0] == order[1] || order[1] == order[2] || order[0] == order[2] {
		t.Errorf("the first pieces are of %v: one trainer was served twice while another waited", order[:trainers])
	}
}

// waitForJobs returns when so many jobs beside the running one are there.
func waitForJobs(t *testing.T, e *Engine, n int) {
	t.Helper()
	for {
		e.mu.Lock()
		waiting := len(e.jobs) - 1
		e.mu.Unlock()
		runtime.Gosched()
		if waiting >= n {
			return
		}
	}
}

// TestARequestWaitsForOnePiece: of the pieces that wait when a request comes none runs
// before its last token.
func TestARequestWaitsForOnePiece(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), nil)
	var stream *Stream
	var early int
	var all sync.WaitGroup
	begun, asked := make(chan struct{}), make(chan struct{})
	piece := func(*kernel.Pool) {
		<-asked
		if u := stream.Usage(); u.Output < 5 {
			early++
		}
	}
	all.Go(func() {
		if err := e.Do(context.Background(), func(*kernel.Pool) {
			close(begun)
			waitForJobs(t, e, 3)
			var err error
			if stream, err = e.Submit(context.Background(), Request{Prompt: []int32{5, 6, 7}, MaxTokens: 5, IgnoreEOS: true}); err != nil {
				t.Error(err)
			}
			close(asked)
		}); err != nil {
			t.Error(err)
		}
	})
	<-begun
	for range 3 {
		all.Go(func() {
			if err := e.Do(context.Background(), piece); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if early != 0 {
		t.Errorf("%d pieces ran before the request had its tokens", early)
	}
}

func TestAPieceRunsOrTheErrorSaysWhyNot(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), nil)
	ctx, cancel := context.WithCancel(context.Background())
	if err := e.Do(ctx, func(*kernel.Pool) { cancel() }); err != nil {
		t.Errorf("it ran, though its context ended meanwhile: %v", err)
	}
	ran := false
	if err := e.Do(ctx, func(*kernel.Pool) { ran = true }); errs.CodeOf(err) != errs.Canceled || ran {
		t.Errorf("after the end of its context: %v, ran: %v", err, ran)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Do(context.Background(), func(*kernel.Pool) { ran = true }); errs.CodeOf(err) != errs.UpstreamUnavailable || ran {
		t.Errorf("after Close: %v, ran: %v", err, ran)
	}
}

func BenchmarkDo(b *testing.B) {
	e := open(b, enginetest.Model(b, 1), nil)
	for b.Loop() {
		if err := e.Do(context.Background(), func(*kernel.Pool) {}); err != nil {
			b.Fatal(err)
		}
	}
}
