package loop

import (
	"context"
	"testing"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/jobs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/stat"
	"macaron/internal/mindforge/update"
)

// shortens is who moves words into weights: it measures on what it is given, and says that so much
// passes after.
type shortens struct {
	after float64
	asked *Shorter
}

func (shortens) Recall(context.Context, ledger.Made, func(ids.Digest) (string, error)) error {
	return nil
}

func (shortens) Update(_ context.Context, l Lesson, _ jobs.Ticket) (Learned, bool, error) {
	return Learned{Why: "nothing else"}, false, nil
}

func (x shortens) Absorb(ctx context.Context, s Shorter, _ jobs.Ticket) (Learned, update.Absorbed, bool, error) {
	*x.asked = s
	r := adapter.Revision{Name: "L1", Hash: ids.DigestOf([]byte("learned"))}
	for _, t := range s.Held {
		if _, err := s.Actor.Try(ctx, s.Long, t, 1); err != nil {
			return Learned{}, update.Absorbed{}, false, err
		}
	}
	out := update.Absorbed{Replayed: 3, Long: update.Measured{Pass: stat.Estimate{Mean: 0.5}}, After: update.Measured{Pass: stat.Estimate{Mean: x.after}}}
	return Learned{Pair: with(s.Pair, r), Made: ledger.Made{What: "revision", Name: "L1", Hash: r.Hash, Cost: mindforge.Cost{Trained: 9}}}, out, true, nil
}

// An entry of the contract in force is moved by itself: attempts at training tasks are learned
// without it, and only what passes as often becomes a release. What is no entry costs no attempt.
func TestAnEntryIsMovedByItself(t *testing.T) {
	words := mindforge.Edit{Kind: "prompt.append", Component: "agent.prompts.system#look-first", Value: "Look first."}
	for after, keep := range map[float64]bool{0.48: true, 0.3: false} {
		over(t, t.TempDir(), &halves{}, nil, func(l *Loop) {
			l.Settings.Update.Held, l.Settings.Update.Attempts, l.Discovery.Tasks = 5, 3, 4
			start, err := l.Start(t.Context())
			must(t, err)
			long, err := edit.Apply(start.Contract, words)
			must(t, err)
			l.Start = func(context.Context) (mindforge.Pair, error) { return mindforge.Pair{Contract: long}, nil }
			var asked Shorter
			l.Updater = shortens{after, &asked}
			notes := 0
			got, err := l.Move(t.Context(), "agent.prompts.system#look-first", func(string) { notes++ })
			must(t, err)
			if got.Kept != keep || (got.Release != "") != keep || got.Attempts != 12 || got.Contract != start.Contract.Hash() || got.Revision == "" || got.Why == "" || notes == 0 || got.Replayed != 3 || got.After.Pass.Mean != after {
				t.Errorf("%+v", got)
			}
			passes := 0
			for _, x := range asked.Tries {
				if x.Outcome.Pass {
					passes++
				}
			}
			if len(asked.Tries) != 12 || passes != got.Passes || asked.Long.Contract.Hash() != long.Hash() || asked.Pair.Contract.Hash() != start.Contract.Hash() || len(asked.Held) != 5 || len(asked.Tasks) != 4 {
				t.Errorf("%d tries, %d passes, %d held, %d tasks", len(asked.Tries), passes, len(asked.Held), len(asked.Tasks))
			}
			for _, x := range asked.Tasks {
				if l.Evaluation.Splits.Of(x.World, x.Family) != evaluation.Train {
					t.Errorf("%s is not for training", x.ID)
				}
			}
			all, err := l.Ledger.All(t.Context(), owner, "")
			must(t, err)
			if releases := len(all); releases > 0 != keep {
				t.Errorf("%d entries of releases", releases)
			}
			l.Actor = nil // nobody attempts what cannot be moved
			for _, no := range []string{"agent.max_turns", "agent.prompts.system#none", "tools.read_file"} {
				if _, err := l.Move(t.Context(), no, nil); errs.CodeOf(err) != errs.InvalidRequest {
					t.Errorf("%s: %v", no, err)
				}
			}
		})
	}
}

// What a search found in words is left out of the contract when the adapter has it, and not when
// what was measured says otherwise. Measurements are on families of validation, and are attempts
// of the run.
func TestWordsAreMovedIntoTheAdapter(t *testing.T) {
	words := mindforge.Edit{Kind: "prompt.append", Component: "agent.prompts.system#look-first", Value: "Look first."}
	number := mindforge.Edit{Kind: "budget.set", Component: "agent.max_turns", Value: "9"}
	for after, want := range map[float64]mindforge.Operator{0.48: mindforge.Absorb, 0.3: ""} {
		over(t, t.TempDir(), &halves{}, nil, func(l *Loop) {
			l.Settings.Update.Absorb, l.Settings.Update.Held = true, 5
			var asked Shorter
			l.Updater = shortens{after, &asked}
			must(t, l.stages(t, "begin", "discovery"))
			w, err := l.open(t.Context(), 1, "expansion", quiet{})
			must(t, err)
			c, err := w.champion(t.Context())
			must(t, err)
			long, err := edit.Apply(c.Pair.Contract, words, number)
			must(t, err)
			_, err = w.candidate(t.Context(), w.key("found"), mindforge.Candidate{Contract: long.Hash(), Parents: parents(c), Operator: mindforge.Reflect, Edits: []mindforge.Edit{words, number}, Generation: 1}, long)
			must(t, err)
			must(t, l.stages(t, "update"))
			must(t, l.stages(t, "update"))
			w, err = l.open(t.Context(), 1, "gate", quiet{})
			must(t, err)
			all, err := w.proposed(t.Context())
			must(t, err)
			p, second := all[0], all[len(all)-1]
			short, err := edit.Apply(c.Pair.Contract, number)
			must(t, err)
			if want != "" && (len(all) != 2 || p.Record.Operator != want || p.Pair.Contract.Hash() != short.Hash() || len(p.Record.Edits) != 1 || len(p.Record.Parents) != 2 || len(p.Pair.Revisions) != 1) || want == "" && len(all) != 1 || second.Record.Operator != mindforge.Reflect || second.Pair.Contract.Hash() != long.Hash() {
				t.Errorf("%g after: %d %+v, %+v", after, len(all), p.Record, second.Record)
			}
			m, _ := w.bodies["g001/absorption"].(ledger.Made)
			if m.Tell["kept"] != map[bool]string{true: "yes", false: "no"}[want != ""] || w.spent.Trained != 9 || len(asked.Held) != 5 || asked.Long.Contract.Hash() != long.Hash() || !w.has("g001/held/0000") {
				t.Errorf("%+v, %d trained, %d held", m, w.spent.Trained, len(asked.Held))
			}
			for _, x := range asked.Held {
				if w.Evaluation.Splits.Of(x.World, x.Family) != evaluation.Validation {
					t.Errorf("%s is not for validation", x.ID)
				}
			}
		})
	}
}
