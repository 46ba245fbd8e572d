package loop

import (
	"context"
	"errors"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation/evaluator"
	"macaron/internal/mindforge/ledger"
)

// Live refuses a run of which forge.toml and the evaluation contract say different things: either
// both ask for a trial on live conversations, or both say that there is none.
func (l *Loop) Live() error {
	turns, share := l.Evaluation.Gates.Canary.Requests, l.Settings.Canary.Share
	switch {
	case turns > 0 && share == 0:
		return errs.Newf(errs.FormatInvalid, "forge.toml has no canary (canary.share = 0), and the evaluation contract asks for %d live turns of each arm", turns).In("canary.share")
	case turns == 0 && share > 0:
		return errs.New(errs.FormatInvalid, "the evaluation contract asks for no live turns (gates.canary.requests = 0): no canary takes place, and forge.toml has to say so", "set canary.share = 0").In("canary.share")
	}
	return nil
}

// askAgain is how often the evaluator is asked about a trial that goes on.
const askAgain = 2 * time.Second

// trial puts the candidate on trial, and asks until the evaluator has seen enough of it. Where no
// live turns are asked for, nothing is tried, and the decision says so.
func (g *gater) trial(ctx context.Context, release ids.Digest) (ledger.Decision, error) {
	if g.Settings.Canary.Share > 0 {
		if err := g.Serving.Try(ctx, g.Run, release, g.Settings.Canary.Share); err != nil {
			return ledger.Decision{}, err
		}
		g.point("trying")
	}
	for {
		d, err := g.ask(ctx, mindforge.Canary)
		var more *evaluator.Waiting
		if !errors.As(err, &more) {
			return d, err
		}
		if err := g.ticket.Step(ctx, g.before(mindforge.Canary), g.total, "gate: "+g.it.name+" canary: "+more.Error()); err != nil {
			return d, err
		}
		select {
		case <-ctx.Done():
			return d, context.Cause(ctx)
		case <-time.After(askAgain):
		}
	}
}

// promoted is the reason of a promotion.
func (g *gater) promoted() string {
	why := "generation " + itoa(g.g)
	if g.Settings.Canary.Share == 0 {
		why += ", without a canary"
	}
	return why
}
