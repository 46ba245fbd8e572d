package evaluator

import (
	"context"

	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/discovery"
	"macaron/internal/mindforge/evaluation"
)

// maxQuestions bounds how often one process is asked about sealed tasks: each answer tells one bit.
const maxQuestions = 20_000

// Has implements discovery.Sealed: whether something of what the next sealed test asks is in a task
// that the loop has found. Who asks learns yes or no.
func (e *Evaluator) Has(ctx context.Context, q discovery.Question) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.contract()
	if err != nil {
		return false, e.account.refuse(err, Ask{})
	}
	if e.questions++; e.questions > maxQuestions {
		return false, e.account.refuse(errs.Newf(errs.BudgetSpent, "more than %d questions about sealed tasks", maxQuestions), Ask{})
	}
	if s.Splits.Of(q.World, q.Family) == evaluation.Sealed {
		return true, nil
	}
	g, err := e.guarded(ctx, s)
	if err != nil {
		return false, err
	}
	return g.Has(ctx, q)
}

// guarded is the guard of the next sealed test, which is drawn anew after each.
func (e *Evaluator) guarded(ctx context.Context, s evaluation.Signed) (*discovery.Guard, error) {
	next := sealedPurpose(e.account.count[s.Digest] + 1)
	if e.guard != nil && e.guards == next {
		return e.guard, nil
	}
	var all []mindforge.Task
	for _, suite := range s.Suites {
		if len(s.Families(suite, e.Worlds, evaluation.Sealed)) == 0 {
			continue
		}
		tasks, err := e.tasks(s.Contract, suite, evaluation.Sealed, suite.Items, next)
		if err != nil {
			return nil, err
		}
		all = append(all, tasks...)
	}
	g, err := discovery.NewGuard(ctx, all)
	if err != nil {
		return nil, err
	}
	e.guard, e.guards = g, next
	return g, nil
}
