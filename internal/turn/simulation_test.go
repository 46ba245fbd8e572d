package turn_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/store/sqlite"
)

var (
	seeds = flag.Uint64("seeds", 25, "how many seeds the simulation runs")
	seed  = flag.Uint64("seed", 1, "the first of them")
)

// Several clients talk, use tools, edit, retry and leave; the engine is slow and fails; the log fails
// at any stage of any write: all in virtual time, drawn from a seed. What a client was told is
// finished is in the log, its answers are its own, and no turn stays open.
func TestSimulation(t *testing.T) {
	for n := range *seeds {
		if !t.Run(fmt.Sprint(*seed+n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { simulate(t, *seed+n) })
		}) {
			t.Fatalf("again: go test -run 'TestSimulation' ./internal/turn -seed %d -seeds 1", *seed+n)
		}
	}
}

// world is what one simulation shares.
type world struct {
	*rig
	mu       sync.Mutex
	random   *rand.Rand
	calm     bool
	finished map[string]bool // turns that a client was told of as finished
}

func (w *world) below(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.IntN(n)
}

// one of n, while there are still faults
func (w *world) happens(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.calm && w.random.IntN(n) == 0
}

func simulate(t *testing.T, seed uint64) {
	w := &world{random: rand.New(rand.NewPCG(seed, 0)), finished: map[string]bool{}}
	ready := false
	w.rig = faultyRig(t, t.TempDir(), func(sqlite.Stage, record.Kind) error {
		if ready && w.happens(25) {
			return errDisk
		}
		return nil
	})
	w.engine.On = w.generate
	ready = true
	var clients sync.WaitGroup
	for c := range 3 {
		clients.Go(func() { w.client(t, c) })
	}
	clients.Wait()
	w.mu.Lock()
	w.calm = true
	w.mu.Unlock()
	time.Sleep(time.Hour)                               // what is done in the background has been done
	if _, err := w.log.Sweep(t.Context()); err != nil { // as the next process begins
		t.Fatal(err)
	}
	w.check(t)
}

// generate takes its time, and fails now and then.
func (w *world) generate(ctx context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
	time.Sleep(time.Duration(w.below(3000)) * time.Millisecond)
	switch {
	case ctx.Err() != nil:
		return true, ctx.Err()
	case w.happens(10):
		return true, errs.New(errs.UpstreamFailed, "the engine failed", "")
	case len(r.Tools) > 0 && r.Messages[len(r.Messages)-1].Role == chat.User && w.below(2) == 0:
		id := fmt.Sprint("call", w.below(1<<30))
		emit(chat.Event{Start: &chat.Start{PromptTokens: 1}})
		emit(chat.Event{ToolCall: &chat.ToolCallDelta{ID: id, Name: "f", Arguments: "{}"}})
		emit(chat.Event{Finish: &chat.Finish{Reason: chat.FinishTools}})
		return true, nil
	}
	return false, nil
}

func (w *world) client(t *testing.T, name int) {
	var history []chat.Message
	for n := range 8 {
		nonce := fmt.Sprintf("L%d: client %d says %d.", w.below(4), name, n)
		asked := append(history[:len(history):len(history)], chat.Text(chat.User, nonce))
		for range 4 { // a call may follow, or a retry
			out, err := w.ask(name, asked)
			if err != nil {
				w.coded(t, err)
				continue
			}
			answer := chat.Message{Role: chat.Assistant}
			if text := out.text(); text != "" {
				answer.Parts = []chat.Part{{Kind: "text", Text: text}}
			}
			for _, e := range out.events {
				if c := e.ToolCall; c != nil {
					answer.ToolCalls = append(answer.ToolCalls, chat.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
				}
			}
			asked = append(asked, answer)
			if len(answer.ToolCalls) > 0 {
				result := chat.Text(chat.Tool, nonce)
				result.ToolCallID = answer.ToolCalls[0].ID
				asked = append(asked, result)
				continue
			}
			if !strings.Contains(out.text(), nonce) {
				t.Errorf("client %d asked %q and got %q", name, nonce, out.text())
			}
			w.mu.Lock()
			w.finished[out.done.Turn] = true
			w.mu.Unlock()
			if w.below(5) > 0 { // else the next question is an edit of this one
				history = asked
			}
			break
		}
		time.Sleep(time.Duration(w.below(5000)) * time.Millisecond)
	}
}

// ask sends a request; now and then its client leaves.
func (w *world) ask(name int, messages []chat.Message) (*sink, error) {
	q := w.talk().request
	q.Scope, q.Messages = fmt.Sprint(name), messages
	q.Tools = []chat.ToolDef{{Name: "f"}}
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	if w.happens(6) {
		gone := time.AfterFunc(time.Duration(w.below(6000))*time.Millisecond, leave)
		defer gone.Stop()
	}
	out := &sink{}
	return out, w.Run(ctx, q, out)
}

// coded checks that a client can be told what happened.
func (w *world) coded(t *testing.T, err error) {
	t.Helper()
	switch errs.CodeOf(err) {
	case errs.UpstreamFailed, errs.Canceled, errs.StorageFailed, errs.StorageFull, errs.NotFound, errs.InvalidRequest:
	default:
		if !errors.Is(err, errDisk) {
			t.Errorf("a client is told %v", err)
		}
	}
}

func (w *world) check(t *testing.T) {
	t.Helper()
	all, err := w.log.List(t.Context(), "local", time.Time{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.finished) < 5 {
		t.Errorf("only %d turns were finished", len(w.finished))
	}
	found := map[string]bool{}
	for _, s := range all {
		_, turns, err := w.log.Load(t.Context(), "local", s.Session)
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range turns {
			found[turn.ID] = true
			if w.finished[turn.ID] && turn.Status != record.StatusDelivered {
				t.Errorf("a finished turn is %s", turn.Status)
			}
			if turn.Status == record.StatusOpen {
				t.Errorf("turn %s stays open", turn.ID)
			}
			if turn.Status == record.StatusDelivered && turn.Answer() == "" {
				t.Errorf("half a turn: %+v", turn)
			}
		}
	}
	for id := range w.finished {
		if !found[id] {
			t.Errorf("the finished turn %s is lost", id)
		}
	}
}
