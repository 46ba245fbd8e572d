package update_test

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/loop"
	"macaron/internal/mindforge/update"
	"macaron/internal/mindforge/update/tinkerclient"
	"macaron/internal/transcript"
)

// told is a ticket of which nobody asks anything.
type told struct{}

func (told) Step(context.Context, int, int, string) error { return nil }

// lesson is what four attempts of the harness under another contract than the pair's came to.
func (s *shop) lesson(t testing.TB) (loop.Lesson, *loop.Learner) {
	t.Helper()
	a := s.actor(t)
	long, short := pairOf(t, "You act. When you are asked for a price, call price_of first, and then say the number to finish."), pairOf(t, "You act.")
	what := loop.Lesson{Run: "run", Generation: 1, Seed: 5, Pair: short}
	for seed := range uint64(4) {
		task := must[mindforge.Task](t)(worlds[0].Make("item_price", 0, seed))
		out := must[mindforge.Outcome](t)(doing{a}.Try(ctx, long, task, seed))
		what.Tasks, what.Tries = append(what.Tasks, task), append(what.Tries, expansion.Tried{Item: task.ID, Family: task.Family, Outcome: out})
	}
	h := harness.New(a.Deps)
	t.Cleanup(h.Close)
	l := &loop.Learner{Settings: update.Defaults(), Known: func(ctx context.Context, r ids.Digest) (adapter.Published, error) {
		return s.catalogue.Revision(ctx, "o", r)
	},
		Record: func(ctx context.Context, run string) (*transcript.Run, error) { return h.Transcript(ctx, "o", run) }, Replay: &update.Replayer{Actor: a}}
	l.Settings.Rank, l.Settings.Selection.Effective, l.Settings.Selection.Alike = 4, 1, 0
	return what, l
}

// The update of a loop is stopped at any request, with its journal or without, and done again by
// another process: one revision, and one entry of the ledger. What the pair and the service say
// needs no settings, and the tokens that a run has left are not passed.
func TestTheLoopsUpdateIsKilledAnywhere(t *testing.T) {
	s := open(t, true)
	what, l := s.lesson(t)
	l.Updater = s.updater(t, nil, nil)
	want, ok, err := l.Update(ctx, what, told{})
	if err != nil || !ok || want.Made.What != "revision" || want.Made.Name != "L1" || want.Made.Tell["taken"] != "4" || want.Made.Cost.Trained == 0 || want.Pair.Revisions[0].Hash != want.Made.Hash {
		t.Fatalf("%v %v %+v", ok, err, want.Made)
	}
	for n, done := 1, false; !done; n += 3 {
		what.Run = fmt.Sprint("killed-", n)
		var journal update.Journal
		if n%2 == 0 {
			journal = update.File{Path: filepath.Join(t.TempDir(), "update.json")}
		}
		l.Updater = s.updater(t, &fatal{tinkerclient.Within{Handler: s}, n, n%4 < 2}, journal)
		_, _, err := l.Update(ctx, what, told{})
		if done = err == nil; n > 100 {
			t.Fatal(err)
		}
		l.Updater = s.updater(t, nil, journal)
		got, ok, err := l.Update(ctx, what, told{})
		if err != nil || !ok || got.Made.Hash != want.Made.Hash || got.Made.Cost.Trained != want.Made.Cost.Trained || !reflect.DeepEqual(got.Made.Tell, want.Made.Tell) || !reflect.DeepEqual(got.Texts, want.Texts) {
			t.Fatalf("killed at request %d: %v %v %+v", n, ok, err, got.Made)
		}
	}
	if all := s.revisions(t); len(all) != 1 {
		t.Errorf("there are %d revisions", len(all))
	}
	if err := l.Recall(ctx, want.Made, nil); err != nil {
		t.Error(err)
	}
	if err := l.Recall(ctx, ledger.Made{Hash: ids.DigestOf([]byte("x"))}, nil); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("a revision that nobody has: %v", err)
	}
	what.Tokens = want.Made.Cost.Trained - 1
	if less, _, err := l.Update(ctx, what, told{}); err != nil || less.Made.Cost.Trained > what.Tokens {
		t.Errorf("%d tokens of %d were trained: %v", less.Made.Cost.Trained, what.Tokens, err)
	}
}

// What was done under a long contract is learned under a short one, and measured on families of
// validation: the long contract, the short one before, the short one after.
func TestTheLoopMovesWordsIntoTheAdapter(t *testing.T) {
	s := open(t, true)
	what, l := s.lesson(t)
	l.Updater = s.updater(t, nil, nil)
	l.Updater.Splits = families{"item_room"}
	held := must[mindforge.Task](t)(worlds[0].Make("item_room", 0, 1))
	long := pairOf(t, "You act. When you are asked for a price, call price_of first, and then say the number to finish.")
	ask := loop.Shorter{Lesson: what, Long: long, Held: []mindforge.Task{held}, Actor: doing{l.Replay.Actor}}
	got, measured, ok, err := l.Absorb(ctx, ask, told{})
	if err != nil || !ok || measured.Replayed != 4 || got.Pair.Contract.Hash() != what.Pair.Contract.Hash() || got.Made.Hash != got.Pair.Revisions[0].Hash || measured.Long.Prompt <= measured.After.Prompt || measured.After.Cost.Attempts != 1 {
		t.Errorf("%v %v %+v", ok, err, measured)
	}
	again, _, _, err := l.Absorb(ctx, ask, told{})
	if err != nil || again.Made.Hash != got.Made.Hash || !reflect.DeepEqual(again.Made.Tell, got.Made.Tell) || len(s.revisions(t)) != 1 {
		t.Errorf("done again: %v %+v", err, again.Made)
	}
	l.Settings.Selection.Effective = 4
	if none, _, ok, err := l.Absorb(ctx, ask, told{}); err != nil || ok || none.Why == "" {
		t.Errorf("of too few kinds: %v %v", ok, err)
	}
}

// Where nothing is worth training on, the report says why.
func TestTheLoopTrainsOnNothing(t *testing.T) {
	s := open(t, true)
	what, l := s.lesson(t)
	l.Updater, l.Settings.Selection.Effective = s.updater(t, nil, nil), 4
	if got, ok, err := l.Update(ctx, what, told{}); err != nil || ok || got.Why == "" || len(s.revisions(t)) != 0 {
		t.Errorf("%v %v %+v", ok, err, got)
	}
}
