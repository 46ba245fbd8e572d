package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
)

// ofRun is a record of owner o's run of the same name as its session.
func ofRun(s string, second int, body record.Body) record.Record {
	r := rec("o", s, "", "", second, body)
	r.Run = "run_" + s
	return r
}

func runOpened(s string, second int) []record.Record {
	return []record.Record{
		opened("o", s, second),
		ofRun(s, second, record.RunOpened{Task: record.RunTask{Instruction: "do\n " + s, Suite: "u"}, Mode: "repl", Messages: []chat.Message{chat.Text(chat.User, "do")}}),
	}
}

func runs(t *testing.T, s Store) {
	put(t, s, records(opened("o", "c", 0)))
	put(t, s, records(runOpened("a", 1)...))
	put(t, s, records(runOpened("b", 2)...))
	hop := ofRun("a", 3, record.Hop{ID: "hop_1", Hop: record.HopAnswer, Continues: "hop_0"})
	hop.Blob = &record.Blob{Tokens: []int32{1}, Prompt: []int32{2, 3}}
	put(t, s, records(hop))
	want := record.RunState{Owner: "o", Run: "run_a", Session: "a", Status: record.RunRunning, Title: "do a", Mode: "repl", Suite: "u", Purpose: record.Production, Records: 2, Opened: at(1), Updated: at(3)}
	got, err := s.Run(ctx, "o", "run_a")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := s.Run(ctx, "x", "run_a"); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("somebody else's run: %v", err)
	}
	if left, err := s.RunsLeft(ctx, 9); err != nil || len(left) != 2 {
		t.Errorf("under way: %v %v", left, err)
	}
	if lost, err := s.RunsLost(ctx, 9); err != nil || len(lost) > 0 {
		t.Errorf("of a process that lives: %v %v", lost, err)
	}
	if cut, err := s.RunsStopped(ctx, 9); err != nil || len(cut) > 0 {
		t.Errorf("under way, not stopped: %v %v", cut, err)
	}
	if held, err := s.RunHeld(ctx, "o", "run_a"); err != nil || held {
		t.Errorf("held by another: %v %v", held, err)
	}
	if _, err := s.Erase(ctx, "o", "a", record.Erase{Time: at(50)}); errs.CodeOf(err) != errs.Overloaded {
		t.Errorf("a run under way went: %v", err)
	}
	for i, st := range []record.RunStatus{record.RunWaiting, record.RunRunning, record.RunDone} {
		body := record.Body(record.RunClosed{Status: st})
		if st == record.RunRunning {
			body = record.RunNote{Note: record.NoteResumed}
		}
		put(t, s, records(ofRun("a", 4+i, body)))
		if got, err := s.Run(ctx, "o", "run_a"); err != nil || got.Status != st || got.Records != 3+i {
			t.Errorf("%+v %v", got, err)
		}
	}
	all, err := s.Runs(ctx, "o", "", 9)
	if err != nil || len(all) != 2 || all[0].Run != "run_b" || all[1].Status != record.RunDone {
		t.Errorf("%+v %v", all, err)
	}
	if before, err := s.Runs(ctx, "o", "run_b", 9); err != nil || len(before) != 1 || before[0].Run != "run_a" {
		t.Errorf("%+v %v", before, err)
	}
	if none, err := s.Runs(ctx, "x", "", 9); err != nil || len(none) > 0 {
		t.Errorf("%+v %v", none, err)
	}
	if talks, err := s.Sessions(ctx, "o", time.Time{}, 9); err != nil || len(talks) != 1 || talks[0].Session != "c" {
		t.Errorf("conversations: %+v %v", talks, err)
	}
	if stale, err := s.Stale(ctx, "o", at(6), "", 9); err != nil || cmp.Diff([]string{"b", "c"}, stale) != "" {
		t.Errorf("stale: %v %v", stale, err)
	}
	if _, err := s.Erase(ctx, "o", "a", record.Erase{Time: at(50)}); err != nil {
		t.Error(err)
	}
	if _, err := s.Run(ctx, "o", "run_a"); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("after its deletion: %v", err)
	}
}

// Of many that go on with a run at the same place, one does.
func runLength(t *testing.T, s Store) {
	put(t, s, records(runOpened("a", 1)...))
	var ok, refused atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			b := records(ofRun("a", 10+i, record.ToolCalled{Call: "c", Name: "f", Arguments: []byte(`{}`), Effect: "write", Attempt: 1}))
			b.Lengths = []record.Length{{Owner: "o", Run: "run_a", Records: 1}}
			switch err := s.Append(ctx, b); {
			case err == nil:
				ok.Add(1)
			case errors.Is(err, record.ErrConflict):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if ok.Load() != 1 || refused.Load() != 7 {
		t.Errorf("%d went on, %d were refused", ok.Load(), refused.Load())
	}
	for _, l := range []record.Length{{Owner: "x", Run: "run_a", Records: 2}, {Owner: "o", Run: "run_b", Records: 0}, {Owner: "o", Run: "run_a", Records: 1}, {Owner: "o", Run: "run_a", Records: 3}} {
		if err := s.Append(ctx, record.Batch{Lengths: []record.Length{l}}); !errors.Is(err, record.ErrConflict) {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

func memory(t *testing.T, s Store) {
	put(t, s, records(runOpened("a", 1)...))
	note := func(second int, kind, scope, item, text string) record.Record {
		return ofRun("a", second, record.RunNote{Note: kind, Name: scope, Item: item, Text: text})
	}
	put(t, s, records(note(2, record.NoteMemoryAdded, "s", "m1", "one"), note(3, record.NoteMemoryAdded, "s", "m2", "two"), note(4, record.NoteMemoryAdded, "z", "m3", "three")))
	put(t, s, records(note(5, record.NoteMemoryForgotten, "s", "m1", "")))
	other := note(6, record.NoteMemoryForgotten, "s", "m2", "")
	other.Owner, other.Session, other.Run = "x", "sx", "run_x"
	opened := runOpened("x", 6)
	for i := range opened {
		opened[i].Owner, opened[i].Session, opened[i].Run = "x", "sx", "run_x"
	}
	put(t, s, records(append(opened, other)...)) // who forgets somebody else's item forgets nothing
	got, err := s.Memory(ctx, "o", "s", 9)
	want := []record.Memory{{Owner: "o", Scope: "s", ID: "m2", Text: "two", Session: "a", Time: at(3)}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if got, err := s.Memory(ctx, "x", "s", 9); err != nil || len(got) > 0 {
		t.Errorf("somebody else's: %v %v", got, err)
	}
	put(t, s, records(ofRun("a", 6, record.RunClosed{Status: record.RunDone})))
	if _, err := s.Erase(ctx, "o", "a", record.Erase{Time: at(50)}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Memory(ctx, "o", "s", 9); err != nil || len(got) > 0 {
		t.Errorf("after the run's deletion: %v %v", got, err)
	}
}
