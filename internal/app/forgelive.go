package app

import (
	"context"

	"macaron/internal/auth"
	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation/evaluator"
	judge "macaron/internal/mindforge/gate"
	"macaron/internal/mindforge/ledger"
	forge "macaron/internal/mindforge/serve"
	"macaron/internal/record"
)

// liveLog is the log of who serves, as the evaluator reads it: what turns came to, it counts itself.
type liveLog struct {
	store    Store
	releases *forge.Releases
}

// openLive opens that log: the database of a URL, or the file of a home.
func openLive(ctx context.Context, home string, url config.Secret) (*liveLog, error) {
	c := config.Config{Home: home}
	c.Store.URL = url
	s, err := OpenStore(ctx, c)
	if err != nil {
		return nil, err
	}
	return &liveLog{s, forge.New(forge.Options{Ledger: &ledger.Ledger{Store: s, Clock: clock.System{}, Limits: ledger.DefaultLimits}, Traffic: s, Clock: clock.System{}})}, nil
}

// traffic counts the conversations of the candidate's trial by the turn that each began with.
func (l *liveLog) traffic(ctx context.Context, _, candidate evaluator.Side) (out [2]judge.Traffic, err error) {
	release, err := releaseOf(candidate.Pair)
	if err != nil {
		return out, err
	}
	trial, ended, err := l.trial(ctx, release)
	if err != nil {
		return out, err
	}
	all, err := l.releases.Conversations(ctx, auth.Local, trial)
	for _, c := range all {
		arm := &out[0]
		if c.Arm == record.ArmCanary {
			arm = &out[1]
		}
		if c.Closed.IsZero() {
			continue // it counts when it has ended
		}
		arm.Requests++
		arm.MS += (float64(c.Closed.Sub(c.Opened).Milliseconds()) - arm.MS) / float64(arm.Requests)
		if c.Failed {
			arm.Failed++
		}
	}
	out[1].Ended = ended
	return out, err
}

// trial gives the last trial of a release, and why it was ended, if it was.
func (l *liveLog) trial(ctx context.Context, release ids.Digest) (version int64, ended string, err error) {
	all, err := l.releases.Ledger.All(ctx, auth.Local, "")
	if err != nil {
		return 0, "", err
	}
	for _, e := range all {
		if e.Kind != ledger.KindAlias {
			continue
		}
		b, err := e.Decode()
		if err != nil {
			return 0, "", err
		}
		m := b.(ledger.Moved)
		switch {
		case m.Alias != ledger.Canary:
		case m.To == release:
			version, ended = m.Version, ""
		case version > 0 && ended == "":
			ended = m.Reason
		}
	}
	if version == 0 {
		err = errs.New(errs.NotFound, "the release "+release.Short()+" was never on trial here", "start the evaluator with the log of who serves it")
	}
	return version, ended, err
}

// releaseOf names the release of a pair.
func releaseOf(p mindforge.Pair) (ids.Digest, error) {
	_, h, err := contract.NewRelease(p.Contract, p.Contract.Runtime.Base, specialists(p))
	return h, err
}
