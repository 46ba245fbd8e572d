package app

import (
	"context"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
	forge "macaron/internal/mindforge/serve"
)

// releasing moves the names by which conversations are served. It implements loop.Serving: what stands
// already where it is to stand is not moved again, so that a step that is done again adds nothing.
type releasing struct {
	releases *forge.Releases
	owner    string
}

// specialists are the revisions of a pair, as a release names them.
func specialists(p mindforge.Pair) (out []contract.Specialist) {
	for _, r := range p.Revisions {
		out = append(out, contract.Specialist{Label: r.Name, Revision: r.Hash})
	}
	return out
}

// Enter implements loop.Serving.
func (s *releasing) Enter(ctx context.Context, run string, p mindforge.Pair) (ids.Digest, error) {
	text, err := p.Contract.Text()
	if err != nil {
		return "", err
	}
	return s.releases.Enter(ctx, s.owner, forge.Draft{Contract: string(text), Base: p.Contract.Runtime.Base, Specialists: specialists(p), Run: run})
}

// Try implements loop.Serving. A run has one trial of a release: one that was ended, by its own
// rule or by a person, is not begun anew.
func (s *releasing) Try(ctx context.Context, run string, release ids.Digest, share float64) error {
	all, err := s.releases.Ledger.All(ctx, s.owner, run)
	if err != nil {
		return err
	}
	for _, e := range all {
		if b, err := e.Decode(); err != nil {
			return err
		} else if m, ok := b.(ledger.Moved); ok && m.Alias == ledger.Canary && m.To == release {
			return nil
		}
	}
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	_, err = s.releases.Canary(ctx, s.owner, forge.Move{Release: release, Share: share, Version: now[ledger.Canary].Version, Reason: "the gate asks for a trial", By: "loop", Run: run})
	return err
}

// Back implements loop.Serving. The trial may have been ended already, by its own rule.
func (s *releasing) Back(ctx context.Context, run string, release ids.Digest, why string) error {
	now, err := s.now(ctx)
	if err != nil || now[ledger.Canary].Release == "" {
		return err
	}
	if now[ledger.Canary].Release != release {
		return otherMoved(ledger.Canary)
	}
	_, err = s.releases.Canary(ctx, s.owner, forge.Move{Version: now[ledger.Canary].Version, Reason: why, By: "loop", Run: run})
	return err
}

// Promote implements loop.Serving.
func (s *releasing) Promote(ctx context.Context, run string, release ids.Digest, why string, because ids.Digest) error {
	now, err := s.now(ctx)
	if err != nil || now[ledger.Champion].Release == release {
		return err
	}
	_, err = s.releases.Promote(ctx, s.owner, forge.Move{Release: release, Version: now[ledger.Champion].Version, Reason: why, By: "loop", Run: run, Because: because})
	return err
}

func (s *releasing) now(ctx context.Context) (map[string]ledger.Alias, error) {
	all, err := s.releases.Ledger.Store.Aliases(ctx, s.owner)
	now := map[string]ledger.Alias{}
	for _, a := range all {
		now[a.Name] = a
	}
	return now, err
}

func otherMoved(name string) error {
	return errs.New(errs.InvalidRequest, "the "+name+" was moved by somebody else meanwhile", "look at `macaron forge aliases`, and begin a new run from what stands there")
}
