package loop

import (
	"context"
	"encoding/json"

	"macaron/internal/canonical"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
)

// Names moves names over releases that nobody is served: those of a planted problem, whose
// revisions are no files. It implements Serving.
type Names struct {
	Ledger *ledger.Ledger
	Owner  string
}

// Enter implements Serving. Where people are served a release, a planted problem has no place: its
// champion would take that one's.
func (n Names) Enter(ctx context.Context, run string, p mindforge.Pair) (ids.Digest, error) {
	if err := n.free(ctx); err != nil {
		return "", err
	}
	var specialists []contract.Specialist
	for _, a := range p.Contract.Adapters {
		s := contract.Specialist{Label: a.Name, Revision: ids.DigestOf([]byte("the base alone"))}
		for _, r := range p.Revisions {
			if r.Name == a.Name {
				s.Revision = r.Hash
			}
		}
		specialists = append(specialists, s)
	}
	r, h, err := contract.NewRelease(p.Contract, "", specialists)
	if err != nil {
		return h, err
	}
	form, err := canonical.Bytes(r)
	if err != nil {
		return h, err
	}
	_, err = n.Ledger.Write(ctx, n.Owner, []ledger.Text{{What: ledger.ReleaseText, Name: h, Text: string(form)}}, nil,
		ledger.Draft{Run: run, Key: "release/" + h.Hex(), Body: ledger.Made{What: "release", Hash: h, From: []ledger.Source{{What: "contract", Name: p.Contract.Name, Hash: p.Contract.Hash()}}}})
	return h, err
}

// Try implements Serving.
func (n Names) Try(ctx context.Context, run string, release ids.Digest, share float64) error {
	now, err := n.now(ctx)
	if err != nil || now[ledger.Canary].Release == release {
		return err
	}
	a := next(now, ledger.Canary, release, run, "the gate asks for a trial")
	a.Share = share
	return n.write(ctx, a)
}

// Back implements Serving.
func (n Names) Back(ctx context.Context, run string, release ids.Digest, why string) error {
	now, err := n.now(ctx)
	if err != nil || now[ledger.Canary].Release == "" {
		return err
	}
	if now[ledger.Canary].Release != release {
		return otherMoved(ledger.Canary)
	}
	return n.write(ctx, next(now, ledger.Canary, "", run, why))
}

// Promote implements Serving.
func (n Names) Promote(ctx context.Context, run string, release ids.Digest, why string, because ids.Digest) error {
	now, err := n.now(ctx)
	if err != nil || now[ledger.Champion].Release == release {
		return err
	}
	reigns, err := n.Ledger.Reigns(ctx, n.Owner)
	if err != nil {
		return err
	}
	moves := []ledger.Alias{next(now, ledger.Champion, release, run, why), next(now, ledger.Previous, reigns.After(release), run, why)}
	if now[ledger.Canary].Release != "" {
		moves = append(moves, next(now, ledger.Canary, "", run, why))
	}
	for i := range moves {
		moves[i].Because = because
	}
	return n.write(ctx, moves...)
}

// free refuses names that stand on a release of a contract that is served.
func (n Names) free(ctx context.Context) error {
	now, err := n.now(ctx)
	for _, name := range []string{ledger.Champion, ledger.Canary} {
		r := now[name].Release
		if err != nil || r == "" {
			continue
		}
		var planted bool
		if planted, err = n.planted(ctx, r); err == nil && !planted {
			err = errs.New(errs.InvalidRequest, "people are served the release "+r.Short()+" here ("+name+"), and a planted problem would take its place", "run it in a home of its own: another MACARON_HOME")
		}
	}
	return err
}

// planted reports whether a release is one of a planted problem.
func (n Names) planted(ctx context.Context, release ids.Digest) (bool, error) {
	form, err := n.Ledger.Store.KeptText(ctx, n.Owner, ledger.ReleaseText, release)
	if err != nil {
		return false, err
	}
	var r contract.Release
	if err := json.Unmarshal([]byte(form), &r); err != nil {
		return false, errs.Wrap(errs.FormatInvalid, err, "the kept release "+release.Short()+" cannot be read", "restore the database from a backup")
	}
	text, err := n.Ledger.Store.KeptText(ctx, n.Owner, ledger.ContractText, r.Harness)
	if err != nil {
		return false, err
	}
	k, err := contract.Parse([]byte(text))
	return err == nil && k.Planted(), err
}

func (n Names) write(ctx context.Context, moves ...ledger.Alias) error {
	_, err := n.Ledger.Write(ctx, n.Owner, nil, moves)
	return err
}

func (n Names) now(ctx context.Context) (map[string]ledger.Alias, error) {
	all, err := n.Ledger.Store.Aliases(ctx, n.Owner)
	now := map[string]ledger.Alias{}
	for _, a := range all {
		now[a.Name] = a
	}
	return now, err
}

func next(now map[string]ledger.Alias, name string, to ids.Digest, run, why string) ledger.Alias {
	return ledger.Alias{Name: name, Version: now[name].Version + 1, From: now[name].Release, Release: to, Reason: why, By: byLoop, Run: run}
}
