package loop

import (
	"context"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
)

// moves are those of the champion since the run began, whoever made them, and the entry of a key of
// the run.
func (w *work) moves(ctx context.Context, key string) (all []ledger.Moved, at ids.Digest, err error) {
	entries, err := w.Ledger.All(ctx, w.Owner, "")
	if err != nil {
		return nil, "", err
	}
	began := false
	for _, e := range entries {
		began = began || e.Run == w.Run
		if e.Run == w.Run && e.Key == key {
			at = e.Hash
		}
		if !began || e.Kind != ledger.KindAlias {
			continue
		}
		b, err := e.Decode()
		if err != nil {
			return nil, "", err
		}
		if m := b.(ledger.Moved); m.Alias == ledger.Champion {
			all = append(all, m)
		}
	}
	return all, at, nil
}

// stands refuses to go on where somebody else has moved the champion since the run began: what the
// run judges is compared with a pair, and may take the place of that pair alone.
func (w *work) stands(ctx context.Context, c entered) error {
	release, err := w.Serving.Enter(ctx, w.Run, c.Pair)
	if err != nil {
		return err
	}
	all, _, err := w.moves(ctx, "")
	if err == nil && len(all) > 0 && all[len(all)-1].To != release {
		err = otherMoved(ledger.Champion)
	}
	return err
}

// promote makes the candidate's release the champion, in the place of the one that it was compared
// with. A run promotes a release once: where a person has taken it back since, it stays taken back.
func (g *gater) promote(ctx context.Context, release ids.Digest) error {
	all, because, err := g.moves(ctx, g.decision(mindforge.Champion))
	if err != nil {
		return err
	}
	for _, m := range all {
		if m.To == release && m.By == byLoop {
			return nil
		}
	}
	if err := g.stands(ctx, g.champion); err != nil {
		return err
	}
	return g.Serving.Promote(ctx, g.Run, release, g.promoted(), because)
}

// byLoop is who moves a name for a run.
const byLoop = "loop"

func otherMoved(name string) error {
	return errs.New(errs.InvalidRequest, "the "+name+" was moved by somebody else meanwhile", "look at `macaron forge aliases`, and begin a new run from what stands there: another name or seed in forge.toml")
}
