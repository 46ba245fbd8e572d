package loop

import (
	"context"
	"slices"

	"macaron/internal/jobs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/update"
)

// Shorter is what is to be moved from words into weights.
type Shorter struct {
	Lesson                  // Pair is the shorter one
	Long   mindforge.Pair   // under which it was done
	Held   []mindforge.Task // of validation, to measure on
	Actor  mindforge.Actor  // of the measurements
}

// Absorber trains so that a shorter contract does what a longer one did, and measures that. An
// Updater may be one.
type Absorber interface {
	// Absorb gives false where there is nothing to learn.
	Absorb(ctx context.Context, s Shorter, t jobs.Ticket) (Learned, update.Absorbed, bool, error)
}

// worded are the kinds of edits that put words into a contract, which can be learned.
var worded = []string{"prompt.append", "skill.add"}

// absorb moves what the search found in words into the adapter, and says what came of it. The pair
// with the shorter contract is entered where it passes about as often as the longer one.
func (w *work) absorb(ctx context.Context, from entered) (bool, string, error) {
	a, ok := w.Updater.(Absorber)
	rest, words := parted(from.Record.Edits)
	if !ok || words == 0 {
		return false, "nothing was found in words", nil
	}
	s, champion, err := w.shorter(ctx, from, rest)
	if err != nil {
		return false, "", err
	}
	before := w.Settings.Update.Attempts * len(s.Tasks)
	o := w.outcomes(ctx, "held", before, before+3*len(s.Held))
	s.Actor = o
	l, got, ok, err := a.Absorb(ctx, s, w.ticket)
	if err == nil {
		err = o.flush()
	}
	if err != nil || !ok {
		return false, orElse(l.Why, "nothing was left to move"), err
	}
	w.point("absorbed")
	keep := w.keeps(got)
	if err := w.measured(ctx, l, got, keep); err != nil || !keep {
		return false, "the shorter contract passes less often", err
	}
	_, err = w.candidate(ctx, w.key("absorbed"), mindforge.Candidate{Contract: s.Pair.Contract.Hash(), Revisions: l.Pair.Revisions, Parents: parents(champion, from), Operator: mindforge.Absorb, Edits: rest,
		Proposer: "update", Seed: s.Seed, Generation: w.g}, s.Pair.Contract)
	return true, itoa(words) + " edits in words were moved into the adapter", err
}

// measures is how many attempts are made to measure a pair that is made shorter.
func (w *work) measures(from entered) int {
	if _, words := parted(from.Record.Edits); !w.Settings.Update.Absorb || words == 0 {
		return 0
	}
	return 3 * w.Settings.Update.Held
}

// parted are edits without those in words, of which there are so many.
func parted(all []mindforge.Edit) (rest []mindforge.Edit, words int) {
	rest = []mindforge.Edit{}
	for _, e := range all {
		if slices.Contains(worded, e.Kind) {
			words++
		} else {
			rest = append(rest, e)
		}
	}
	return rest, words
}

// shorter puts together what there is to learn, and to measure on.
func (w *work) shorter(ctx context.Context, from entered, rest []mindforge.Edit) (s Shorter, champion entered, err error) {
	if champion, err = w.champion(ctx); err != nil {
		return s, champion, err
	}
	k, err := edit.Apply(champion.Pair.Contract, rest...)
	if err != nil {
		return s, champion, err
	}
	s = Shorter{Lesson: Lesson{Run: w.Run, Generation: w.g, Seed: w.draw("absorb", w.g), Pair: mindforge.Pair{Contract: k, Revisions: from.Pair.Revisions}, Tokens: w.tokens()}, Long: from.Pair}
	if s.Tries, s.Tasks, err = w.lessons(ctx, from); err != nil {
		return s, champion, err
	}
	s.Held, err = w.held()
	return s, champion, err
}

// measured keeps the revision, and how it was measured before and after.
func (w *work) measured(ctx context.Context, l Learned, a update.Absorbed, keep bool) error {
	if err := w.note(ctx, w.key("absorption/revision"), l.Made, l.Texts...); err != nil {
		return err
	}
	for _, m := range []*update.Measured{&a.Long, &a.Before, &a.After} {
		m.Cost.CPUMS, m.Cost.WallMS = 0, 0
	}
	t, err := plain(map[string]update.Measured{"long": a.Long, "before": a.Before, "after": a.After})
	if err != nil {
		return err
	}
	kept := map[bool]string{true: "yes", false: "no"}[keep]
	return w.note(ctx, w.key("absorption"), ledger.Made{What: "absorption", Name: "generation " + itoa(w.g), Hash: t.Name, From: []ledger.Source{{What: "revision", Name: l.Made.Name, Hash: l.Made.Hash}},
		Tell: map[string]string{"replayed": itoa(a.Replayed), "kept": kept, "pass long": decimal(a.Long.Pass.Mean), "pass before": decimal(a.Before.Pass.Mean), "pass after": decimal(a.After.Pass.Mean),
			"prompt tokens long": decimal(a.Long.Prompt), "prompt tokens after": decimal(a.After.Prompt)}}, t)
}
