package serve

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/record"
)

// Move asks for a name to be moved.
type Move struct {
	Release ids.Digest // where to; "" is the contract's file
	// Version is that of the name which the caller has seen: if there was a move since, this one is
	// refused. Negative: whatever it is.
	Version int64
	Share   float64 // of a canary: the part of the conversations
	Rule    string  // of a canary: when it goes
	Reason  string
	By      string
	Run     string     // of the loop; "": a person moves
	Because ids.Digest // the entry of the ledger that decided it
}

// names are where an owner's names stand, and of a move of the champion who was it before.
type names struct {
	at     map[string]ledger.Alias
	reigns *ledger.Reigns
}

// Promote makes a release the champion, and what was champion the previous one, in one
// commit that also ends a trial. From then on turns that begin are served it whole; turns
// that have begun end as they began.
func (r *Releases) Promote(ctx context.Context, owner string, m Move) (ledger.Alias, error) {
	return r.move(ctx, owner, m, ledger.Champion, func(now names) (ids.Digest, error) { return m.Release, nil })
}

// Rollback makes the previous champion the champion again; before the first there was the
// contract's file. Repeated, it goes on to what was champion before that one, and never to what
// was taken back. errs.NotFound: nothing is left to go back to.
func (r *Releases) Rollback(ctx context.Context, owner string, m Move) (ledger.Alias, error) {
	return r.move(ctx, owner, m, ledger.Champion, func(now names) (ids.Digest, error) {
		to, ok := now.reigns.Below()
		switch {
		case ok:
			return to, nil
		case now.at[ledger.Champion].Version == 0:
			return "", errs.New(errs.NotFound, "no release ever was champion: the contract's file is served", "`macaron forge promote` makes one")
		}
		return "", errs.New(errs.NotFound, "nothing is left to go back to: the contract's file is served, and every release that was champion was taken back", "`macaron forge promote RELEASE` serves one of them again; `macaron forge lineage` lists them")
	})
}

// Canary puts a release on trial for a share of the conversations, or with "" ends the
// trial.
func (r *Releases) Canary(ctx context.Context, owner string, m Move) (ledger.Alias, error) {
	if m.Release != "" {
		if !(m.Share > 0 && m.Share < 1) {
			return ledger.Alias{}, errs.Newf(errs.InvalidRequest, "a canary's share is %g", m.Share).In("share")
		}
		if _, err := r.Parse(m.Rule); err != nil {
			return ledger.Alias{}, err
		}
	}
	return r.move(ctx, owner, m, ledger.Canary, func(now names) (ids.Digest, error) {
		if m.Release != "" && m.Release == now.at[ledger.Champion].Release {
			return "", errs.New(errs.InvalidRequest, "the release "+m.Release.Short()+" is the champion", "put another one on trial")
		}
		return m.Release, nil
	})
}

func (r *Releases) move(ctx context.Context, owner string, m Move, name string, to func(names) (ids.Digest, error)) (ledger.Alias, error) {
	for {
		a, err := r.moveOnce(ctx, owner, m, name, to)
		switch {
		case !errors.Is(err, record.ErrConflict):
			return a, err
		case m.Version >= 0:
			return a, moved(name)
		} // somebody else was quicker, and the caller does not mind
	}
}

func (r *Releases) moveOnce(ctx context.Context, owner string, m Move, name string, to func(names) (ids.Digest, error)) (ledger.Alias, error) {
	now, err := r.names(ctx, owner, name)
	if err != nil {
		return ledger.Alias{}, err
	}
	if m.Version >= 0 && now.at[name].Version != m.Version {
		return ledger.Alias{}, moved(name)
	}
	if m.Release, err = to(now); err != nil {
		return ledger.Alias{}, err
	}
	if err := r.servable(ctx, owner, name, m.Release); err != nil {
		return ledger.Alias{}, err
	}
	moves, texts := now.moves(name, m), []ledger.Text(nil)
	if m.Rule != "" {
		texts = append(texts, ledger.Plain(m.Rule))
	}
	if _, err := r.Ledger.Write(ctx, owner, texts, moves); err != nil {
		return ledger.Alias{}, err
	}
	r.forget(owner)
	return moves[0], nil
}

// servable refuses a release that cannot be served here, and the contract's file where it cannot.
func (r *Releases) servable(ctx context.Context, owner, name string, release ids.Digest) (err error) {
	switch {
	case release != "":
		_, err = r.Snapshot(ctx, owner, release)
	case name == ledger.Champion:
		_, err = r.Registry.Current(ctx, owner)
	}
	return err
}

// names reads where the names stand before one of them is moved. record.ErrConflict: the champion
// was moved between two readings.
func (r *Releases) names(ctx context.Context, owner, name string) (names, error) {
	now := names{at: map[string]ledger.Alias{}}
	all, err := r.Ledger.Store.Aliases(ctx, owner)
	for _, a := range all {
		now.at[a.Name] = a
	}
	if err != nil || name != ledger.Champion {
		return now, err
	}
	if now.reigns, err = r.Ledger.Reigns(ctx, owner); err != nil {
		return now, err
	}
	if now.reigns.Version > now.at[name].Version {
		return now, record.ErrConflict
	}
	return now, now.reigns.Stands(now.at[name])
}

// moves are those of one commit: the name that was asked for first. With a champion that changes,
// previous goes to what a rollback would go to from then on, and a trial, which was one against it, ends.
func (n names) moves(name string, m Move) []ledger.Alias {
	first := n.next(name, m.Release, m)
	if name == ledger.Canary {
		first.Share = m.Share
		if m.Rule != "" {
			first.Rule = ledger.Plain(m.Rule).Name
		}
		return []ledger.Alias{first}
	}
	moves := []ledger.Alias{first}
	if was := n.at[ledger.Champion].Release; was != m.Release {
		moves = append(moves, n.next(ledger.Previous, n.reigns.After(m.Release), m))
	}
	if n.at[ledger.Canary].Release != "" {
		moves = append(moves, n.next(ledger.Canary, "", m))
	}
	return moves
}

func (n names) next(name string, to ids.Digest, m Move) ledger.Alias {
	return ledger.Alias{Name: name, Version: n.at[name].Version + 1, From: n.at[name].Release, Release: to, Reason: m.Reason, By: m.By, Run: m.Run, Because: m.Because}
}

func moved(name string) error {
	return errs.New(errs.InvalidRequest, "the "+name+" was moved by somebody else meanwhile", "look at `macaron forge aliases` and decide again").In("version")
}

// Drawn tells whether a conversation is one of the canary's. It is a function of the trial
// and the conversation, so that a conversation stays where it is, in every process.
func Drawn(a ledger.Alias, conversation string) bool {
	sum := sha256.Sum256(fmt.Appendf(nil, "macaron canary %s %d %s", a.Release, a.Version, conversation))
	return float64(binary.BigEndian.Uint64(sum[:8])) < a.Share*math.MaxUint64
}
