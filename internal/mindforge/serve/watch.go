package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/record"
)

// Every is how often trials are judged.
const Every = 2 * time.Second

// Look judges the trials of all owners, and takes back the canaries that are worse. Any
// number of processes may look: a canary is taken back once. It also brings what the names
// stand on into this home, so that turns which begin elsewhere can go on here.
func (r *Releases) Look(ctx context.Context) error {
	owners, err := r.Ledger.Store.Ledgers(ctx)
	for _, owner := range owners {
		err = errors.Join(err, r.look(ctx, owner))
	}
	return err
}

func (r *Releases) look(ctx context.Context, owner string) error {
	all, err := r.Ledger.Store.Aliases(ctx, owner)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, onTrial) {
		r.mu.Lock()
		delete(r.readings, owner)
		r.mu.Unlock()
	}
	for _, a := range all {
		if a.Release == "" {
			continue
		}
		_, err := r.Snapshot(ctx, owner, a.Release)
		if errors.Is(err, errPlanted) || err != nil && a.Name == ledger.Previous { // nobody is served that; a rollback to it says why not
			continue
		}
		if err != nil {
			return err
		}
		if onTrial(a) {
			if _, err := r.judge(ctx, owner, a); err != nil {
				return err
			}
		}
	}
	return nil
}

func onTrial(a ledger.Alias) bool { return a.Name == ledger.Canary && a.Release != "" }

// Trial tells how the trial of an owner stands. Where there is none, the alias is on no
// release.
func (r *Releases) Trial(ctx context.Context, owner string) (ledger.Alias, Verdict, error) {
	all, err := r.Ledger.Store.Aliases(ctx, owner)
	if err != nil {
		return ledger.Alias{}, Verdict{}, err
	}
	for _, a := range all {
		if onTrial(a) {
			v, err := r.verdict(ctx, owner, a)
			return a, v, err
		}
	}
	return ledger.Alias{Name: ledger.Canary}, Verdict{}, nil
}

func (r *Releases) verdict(ctx context.Context, owner string, a ledger.Alias) (Verdict, error) {
	rule := ""
	if a.Rule != "" {
		var err error
		if rule, err = r.Ledger.Store.KeptText(ctx, owner, ledger.PlainText, a.Rule); err != nil {
			return Verdict{}, err
		}
	}
	judge, err := r.Parse(rule)
	if err != nil {
		return Verdict{}, err
	}
	var v Verdict
	err = r.conversations(ctx, owner, a.Version, func(now time.Time, all []*Conversation) { v = judge.Judge(now, all) })
	return v, err
}

// conversations hands over what came of a trial so far; it is good until use returns.
func (r *Releases) conversations(ctx context.Context, owner string, trial int64, use func(time.Time, []*Conversation)) error {
	now, t := r.Clock.Now(), r.reading(owner)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.read(ctx, r.Traffic, owner, trial, now); err != nil {
		return err
	}
	use(now, t.conversations())
	return nil
}

// Conversations tells what a trial of an owner came to so far.
func (r *Releases) Conversations(ctx context.Context, owner string, trial int64) (out []Conversation, err error) {
	err = r.conversations(ctx, owner, trial, func(_ time.Time, all []*Conversation) {
		for _, c := range all {
			copied := *c
			copied.judged = nil // what is read later goes on in the other
			out = append(out, copied)
		}
	})
	return out, err
}

// judge takes a canary back that is worse, and notes once of one that has passed that it
// has. What becomes of that is the gate's to say.
func (r *Releases) judge(ctx context.Context, owner string, a ledger.Alias) (Verdict, error) {
	v, err := r.verdict(ctx, owner, a)
	if err != nil || !v.Back && !v.Passed {
		return v, err
	}
	key := fmt.Sprintf("trial/%d", a.Version)
	if _, err := r.Ledger.Store.LedgerEntry(ctx, owner, a.Run, key); err == nil && v.Passed {
		return v, nil // somebody has noted it
	}
	entry, err := r.note(ctx, owner, key, a, v)
	if err != nil || !v.Back {
		return v, err
	}
	_, err = r.Canary(ctx, owner, Move{Version: a.Version, Reason: "taken back: " + v.Why, By: "trial", Run: a.Run, Because: entry})
	if errs.CodeOf(err) == errs.InvalidRequest { // another process was quicker, or a person
		err = nil
	}
	return v, err
}

// note enters what a trial came to, with the counts and wealths as a kept text.
func (r *Releases) note(ctx context.Context, owner, key string, a ledger.Alias, v Verdict) (ids.Digest, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", errs.Wrap(errs.Internal, err, "a verdict cannot be written", "")
	}
	kept := ledger.Plain(string(text))
	tell := map[string]string{"verdict": "passed"}
	if v.Back {
		tell["verdict"], tell["why"] = "taken back", v.Why
	}
	made := ledger.Made{What: "report", Name: "trial", Hash: kept.Name, From: []ledger.Source{{What: "release", Hash: a.Release}}, Tell: tell}
	all, err := r.Ledger.Write(ctx, owner, []ledger.Text{kept}, nil, ledger.Draft{Run: a.Run, Key: key, Body: made})
	if errors.Is(err, record.ErrConflict) { // another process saw a little more or less
		e, err := r.Ledger.Store.LedgerEntry(ctx, owner, a.Run, key)
		return e.Hash, err
	}
	if err != nil {
		return "", err
	}
	return all[0].Hash, nil
}
