package loop

import (
	"cmp"
	"context"
	"fmt"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/jobs"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/update"
	"macaron/internal/transcript"
)

// Learner trains on what attempts of the harness came to: an Updater for runs whose attempts
// have records.
type Learner struct {
	Settings update.Settings
	Updater  *update.Updater
	// Known gives a revision of the catalogue.
	Known func(ctx context.Context, hash ids.Digest) (adapter.Published, error)
	// Record reads the record of an attempt.
	Record func(ctx context.Context, run string) (*transcript.Run, error)
	Replay *update.Replayer // of attempts under other contracts than the pair's; nil: they stay as they are
}

// Update implements Updater.
func (l *Learner) Update(ctx context.Context, what Lesson, t jobs.Ticket) (Learned, bool, error) {
	set, err := l.settings(ctx, what)
	if err != nil {
		return Learned{}, false, err
	}
	if err := t.Step(ctx, 0, 0, "update: "+set.Method+" of "+set.Adapter); err != nil {
		return Learned{}, false, err
	}
	got, ok, err := l.Updater.Learn(ctx, update.Generation{Run: what.Run, Number: what.Generation, Seed: what.Seed, Settings: set, Pair: what.Pair, Tries: what.Tries, Tasks: what.Tasks,
		Record: l.Record, Replay: l.Replay})
	if err != nil || !ok {
		return Learned{Why: got.Report.Why}, false, err
	}
	made, text, err := trained(got.Made, got.Report)
	return Learned{Pair: got.Pair, Made: made, Texts: []ledger.Text{text}}, true, err
}

// Absorb implements Absorber.
func (l *Learner) Absorb(ctx context.Context, s Shorter, t jobs.Ticket) (Learned, update.Absorbed, bool, error) {
	set, err := l.settings(ctx, s.Lesson)
	if err != nil {
		return Learned{}, update.Absorbed{}, false, err
	}
	if err := t.Step(ctx, 0, 0, "update: from words into "+set.Adapter); err != nil {
		return Learned{}, update.Absorbed{}, false, err
	}
	g := update.Generation{Run: s.Run, Number: s.Generation, Seed: s.Seed, Settings: set, Pair: s.Pair, Tries: s.Tries, Tasks: s.Tasks, Record: l.Record}
	got, err := l.Updater.Shorten(ctx, g, update.Absorption{Long: s.Long, Short: s.Pair, Replay: l.Replay, Actor: s.Actor, Held: s.Held, Repeats: 1})
	if err != nil || got.Report.Why != "" {
		return Learned{Why: got.Report.Why}, got, false, err
	}
	made, text, err := trained(got.Made, got.Report)
	return Learned{Pair: got.Pair, Made: made, Texts: []ledger.Text{text}}, got, true, err
}

// settings are those of the file, with what the pair and the service say where it says nothing,
// and no more tokens than the run has left.
func (l *Learner) settings(ctx context.Context, what Lesson) (update.Settings, error) {
	s := l.Settings
	s.Adapter = cmp.Or(s.Adapter, what.Pair.Contract.Agent.Adapter)
	if what.Tokens > 0 && (s.Tokens == 0 || what.Tokens < s.Tokens) {
		s.Tokens = what.Tokens
	}
	if s.Base != "" {
		return s, nil
	}
	bases, err := l.Updater.Client.Bases(ctx)
	if err == nil && len(bases) == 0 {
		err = errs.New(errs.Unsupported, "the training service has no base", "start one with a model")
	}
	if err == nil {
		s.Base = bases[0].Name
	}
	return s, err
}

// trained is the entry of a revision: what it was made of, and what was selected.
func trained(m update.Made, r update.Report) (ledger.Made, ledger.Text, error) {
	t, err := plain(r)
	p := m.Revision
	out := ledger.Made{What: "revision", Name: p.Name, Hash: p.Hash, Tell: map[string]string{"taken": itoa(r.Taken), "rows": itoa(r.Rows), "families": decimal(r.Families), "forms": decimal(r.Forms)}, Cost: m.Cost,
		From: []ledger.Source{{What: "contract", Hash: p.Contract}, {What: "data", Hash: m.Data}, {What: "recipe", Hash: m.Recipe}, {What: "selection", Hash: t.Name}}}
	if p.Parent != "" {
		out.From = append(out.From, ledger.Source{What: "revision", Name: p.Name, Hash: p.Parent})
	}
	for name, v := range m.Metrics {
		out.Tell[name] = fmt.Sprintf("%.6g", v)
	}
	return out, t, err
}

// Recall implements Updater: what the ledger names, the catalogue has.
func (l *Learner) Recall(ctx context.Context, m ledger.Made, _ func(ids.Digest) (string, error)) error {
	_, err := l.Known(ctx, m.Hash)
	if code := errs.CodeOf(err); code == errs.NotFound || code == errs.AdapterNotFound {
		return errs.Wrap(errs.NotFound, err, "the run has made the revision "+m.Hash.Short()+", which the catalogue does not have", "restore the home from a backup, or begin a new run")
	}
	return err
}
