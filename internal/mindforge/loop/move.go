package loop

import (
	"cmp"
	"context"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/jobs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/batch"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/update"
)

// Moved is what came of moving an entry of a contract into the adapter.
type Moved struct {
	Entry    string          `json:"entry"`
	Contract ids.Digest      `json:"contract"` // without the entry
	Attempts int             `json:"attempts"` // under the longer contract, to learn from
	Passes   int             `json:"passes"`
	Replayed int             `json:"replayed"` // that passed under the shorter contract too
	Long     update.Measured `json:"long"`
	Before   update.Measured `json:"before"` // the shorter contract, before anything was trained
	After    update.Measured `json:"after"`
	Revision ids.Digest      `json:"revision,omitempty"`
	Kept     bool            `json:"kept"`
	Why      string          `json:"why"`
	Release  ids.Digest      `json:"release,omitempty"` // of the shorter contract and the revision, where it is kept
}

// silent is the ticket of work that is no job.
type silent struct{ told func(note string) }

// Step implements jobs.Ticket.
func (s silent) Step(_ context.Context, _, _ int, note string) error {
	s.told(note)
	return nil
}

// Move moves one entry in words of the contract that it starts with (a line of a prompt, a skill) into
// the adapter: what is done under it on tasks of training families is learned under the contract without
// it, and both are measured on families of validation. Where the shorter one passes about as often
// (update.margin), it is made a release with the revision; names are a person's to move. It is no
// part of a run: nothing of it is a step of the ledger, and begun again it begins anew.
func (l *Loop) Move(ctx context.Context, entry string, told func(note string)) (Moved, error) {
	out := Moved{Entry: entry}
	a, ok := l.Updater.(Absorber)
	if !ok {
		return out, errs.New(errs.Unsupported, "nothing trains from words here", `set actor = "harness"`)
	}
	long, err := l.Start(ctx)
	if err != nil {
		return out, err
	}
	s, err := l.without(ctx, long, entry)
	if err != nil {
		return out, err
	}
	w := &work{Loop: l, stage: "absorb", ticket: silent{told}}
	if err := w.practised(ctx, &s, &out); err != nil {
		return out, err
	}
	if s.Held, err = w.held(); err != nil {
		return out, err
	}
	got, measured, ok, err := a.Absorb(ctx, s, w.ticket)
	if out.Replayed = measured.Replayed; err != nil || !ok {
		out.Why = orElse(got.Why, "nothing was left to move")
		return out, err
	}
	out.Long, out.Before, out.After, out.Revision = measured.Long, measured.Before, measured.After, got.Made.Hash
	if out.Kept = w.keeps(measured); !out.Kept {
		out.Why = "the shorter contract passes less often"
		return out, nil
	}
	out.Why = "the shorter contract passes about as often"
	out.Release, err = l.Serving.Enter(ctx, "", got.Pair)
	return out, err
}

// without is the lesson of a pair without an entry.
func (l *Loop) without(ctx context.Context, long mindforge.Pair, entry string) (s Shorter, err error) {
	e, err := edit.Removal(entry)
	if err != nil {
		return s, err
	}
	short, err := edit.Apply(long.Contract, e)
	s = Shorter{Lesson: Lesson{Run: l.Run, Seed: l.Seed, Pair: mindforge.Pair{Contract: short, Revisions: long.Revisions}, Tokens: l.Budget.Trained}, Long: long, Actor: l.Actor}
	return s, err
}

// practised makes attempts under the longer contract, to learn from.
func (w *work) practised(ctx context.Context, s *Shorter, out *Moved) error {
	families, each := w.training(), cmp.Or(w.Settings.Update.Attempts, w.Discovery.Attempts)
	if len(families) == 0 {
		return errs.New(errs.FormatInvalid, "no family of the worlds is for training", "give the evaluation contract other splits, or forge.toml other worlds")
	}
	for i := range w.Discovery.Tasks {
		t, err := w.make(families[i%len(families)], w.draw("absorb", i))
		if err != nil {
			return err
		}
		s.Tasks = append(s.Tasks, t)
	}
	out.Contract, out.Attempts = s.Pair.Contract.Hash(), each*len(s.Tasks)
	_ = w.ticket.Step(ctx, 0, 0, itoa(out.Attempts)+" attempts under the contract with the entry") // it tells, and stops nothing
	s.Tries = make([]expansion.Tried, out.Attempts)
	return batch.Do(ctx, out.Attempts, w.AtOnce, func(ctx context.Context, i int) (err error) {
		t := s.Tasks[i/each]
		s.Tries[i] = expansion.Tried{Round: 1 + i%each, Item: t.ID, Family: t.Family, Seed: w.draw("absorb", t.ID, i%each)}
		s.Tries[i].Outcome, err = w.Actor.Try(ctx, s.Long, t, s.Tries[i].Seed)
		return err
	}, func(i int) error {
		if s.Tries[i].Outcome.Pass {
			out.Passes++
		}
		return nil
	})
}

// held are tasks of validation, which what is moved is measured on.
func (w *work) held() (all []mindforge.Task, err error) {
	families := w.families(evaluation.Validation)
	for i := range w.Settings.Update.Held {
		if len(families) == 0 {
			break
		}
		t, err := w.make(families[i%len(families)], w.draw("held", w.g, i))
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// keeps reports whether the shorter contract is to go on.
func (w *work) keeps(a update.Absorbed) bool {
	return a.After.Pass.Mean >= a.Long.Pass.Mean-w.Settings.Update.Margin
}

var _ jobs.Ticket = silent{}
