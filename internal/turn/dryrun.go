package turn

import (
	"context"

	"macaron/internal/contract"
	"macaron/internal/route"
)

// Route decides who would take a request, and does nothing else: no turn is opened
// and nothing is logged. previous is the turn before, or nil.
func (r *Runner) Route(ctx context.Context, owner, text string, previous *contract.Previous) (Report, error) {
	leave, err := r.Queue.Enter(ctx)
	if err != nil {
		return Report{}, err
	}
	defer leave()
	catalog, err := r.Catalogue.Current(ctx, owner)
	if err != nil {
		return Report{}, err
	}
	router, _ := catalog.Find(catalog.Contract.Router.Adapter)
	outcome, err := route.Decide(ctx, r.Generator, route.Question{
		Contract: catalog.Contract, Labels: catalog.Labels(), Router: router,
		Text: text, Previous: previous, Salt: owner, Timeout: r.RouteTimeout,
	})
	if err != nil {
		return Report{}, err
	}
	target, _ := catalog.Find(outcome.Decision.Label)
	report := Report{
		Adapter: target.Name, Revision: target.Hash, Reason: outcome.Decision.Reason, Cause: outcome.Decision.Error,
		Probabilities: outcome.Decision.Probabilities, Contract: catalog.Contract.Hash(),
	}
	if h := outcome.Hop; h.Engine.Name != "" {
		report.Hops = append(report.Hops, hopReport(h))
	}
	return report, nil
}
