package loop

import (
	"context"

	"macaron/internal/canonical"
	"macaron/internal/contract"
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

// Enter implements Serving.
func (n Names) Enter(ctx context.Context, run string, p mindforge.Pair) (ids.Digest, error) {
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
	a := next(now, ledger.Canary, release, run, "")
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
		return errNoChampion(ledger.Canary)
	}
	return n.write(ctx, next(now, ledger.Canary, "", run, why))
}

// Promote implements Serving.
func (n Names) Promote(ctx context.Context, run string, release ids.Digest, why string) error {
	now, err := n.now(ctx)
	if err != nil || now[ledger.Champion].Release == release {
		return err
	}
	moves := []ledger.Alias{next(now, ledger.Champion, release, run, why), next(now, ledger.Previous, now[ledger.Champion].Release, run, why)}
	if now[ledger.Canary].Release != "" {
		moves = append(moves, next(now, ledger.Canary, "", run, why))
	}
	return n.write(ctx, moves...)
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
	return ledger.Alias{Name: name, Version: now[name].Version + 1, From: now[name].Release, Release: to, Reason: why, By: "loop", Run: run}
}
