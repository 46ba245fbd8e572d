// Package route chooses the specialist of a turn: exactly one adapter, by an
// explicit decision that is logged. It never fails: whatever goes wrong, the
// contract's default label takes the turn, with the reason kept.
package route

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/record"
)

// The reasons of a decision.
const (
	Model    = "model"     // the router chose
	FollowUp = "follow_up" // the last adapter keeps a request on which the router was not surer of another
	Forced   = "forced"    // the client asked for the adapter
	Sticky   = "sticky"    // tool results stay on the adapter that called
	Fallback = "fallback"  // routing failed or was unsure: the contract's default
	Single   = "single"    // there is only one adapter
	Split    = "split"     // several specialists answer, each its part
)

// Question is all that a decision depends on.
type Question struct {
	Contract *contract.Contract
	Labels   []string         // of the registered adapters
	Router   adapter.Revision // runs the route hop
	Forced   string           // adapter that the client asked for, or ""
	Pinned   string           // adapter that an open turn is pinned to, or ""
	Text     string           // the request
	Previous *contract.Previous
	Earlier  []contract.Previous // recent turns, oldest first, with their summaries as texts
	View     []chat.Message      // where the answer goes on from it, the prompt begins with it; nil: the plain layout
	Ranker   Ranker              // makes the shortlist, where the contract wants one
	Salt     string              // tenant
	User     string              // of the tenant, whose adapters Labels are; "": nobody in particular
	Narrowed bool                // Labels are not those that everybody of the tenant has
	Session  string              // that it is asked for
	Timeout  time.Duration       // of the hop; 0: none
}

// Ranker orders adapters by how well their descriptions fit a request; *shortlist.Ranker is one.
type Ranker interface {
	// Rank gives the labels of the k fittest, best first, and what they were ranked by.
	Rank(ctx context.Context, c *contract.Contract, labels []string, request string, k int) ([]string, string)
}

// Outcome is the decision, and the hop that made it if a model was asked.
type Outcome struct {
	Decision record.RouteDecision
	Hop      record.Hop // ID is the caller's to give
	Blob     *record.Blob
}

// Decide answers the question. Only a forced label that is not registered is an
// error, and an ended ctx.
func Decide(ctx context.Context, g backend.Generator, q Question) (Outcome, error) {
	if d, ok, err := settled(q); ok || err != nil {
		d.User = q.User
		return Outcome{Decision: d, Hop: record.Hop{Hop: record.HopRoute, Route: &d}}, err
	}
	offered, by := q.offer(ctx)
	choice, hop, blob, err := ask(ctx, g, q, offered)
	if ctx.Err() != nil {
		return Outcome{Hop: hop}, errs.Wrap(errs.Canceled, context.Cause(ctx), "the client went away while the turn was routed", "")
	}
	d := judge(q, offered, choice, err)
	if by != "" || q.Narrowed {
		d.Offered, d.RankedBy = offered, by
	}
	d.User = q.User
	for _, e := range q.Earlier[max(0, len(q.Earlier)-q.Contract.Router.Summaries):] {
		d.Earlier = append(d.Earlier, record.RouteContext(e))
	}
	d.Overlay = q.View != nil
	hop.Route = &d
	if err != nil {
		hop.Error, hop.Detail = string(errs.CodeOf(err)), err.Error()
	}
	return Outcome{Decision: d, Hop: hop, Blob: blob}, nil
}

// settled answers what needs no model.
func settled(q Question) (record.RouteDecision, bool, error) {
	switch {
	case q.Pinned != "":
		return record.RouteDecision{Label: q.Pinned, Reason: Sticky}, true, nil
	case q.Forced != "":
		if !slices.Contains(q.Labels, q.Forced) {
			return record.RouteDecision{}, false, NoAdapter(q.Forced)
		}
		return record.RouteDecision{Label: q.Forced, Reason: Forced}, true, nil
	case len(q.Labels) == 0:
		return record.RouteDecision{}, false, errs.New(errs.AdapterNotFound, "no adapter is registered", "add one to [[adapters]] in the contract")
	case len(q.Labels) == 1:
		return record.RouteDecision{Label: q.Labels[0], Reason: Single}, true, nil
	}
	return record.RouteDecision{}, false, nil
}

// NoAdapter says that the adapter a client asked for is not registered.
func NoAdapter(name string) *errs.Error {
	return errs.New(errs.AdapterNotFound, fmt.Sprintf("there is no adapter %q", name), "GET /v1/models lists them")
}

// judge turns the router's choice, or its failure, into the decision. It is pure.
func judge(q Question, offered []string, c *chat.Choice, err error) record.RouteDecision {
	fallback := record.RouteDecision{Label: fallbackLabel(q), Reason: Fallback}
	switch {
	case err != nil:
		fallback.Error = string(errs.CodeOf(err))
		return fallback
	case c == nil || !slices.Contains(offered, c.Label):
		fallback.Error = "no_label"
		return fallback
	}
	fallback.Probabilities, fallback.Preferred = c.Probabilities, c.Label
	p, known := c.Probabilities[c.Label]
	switch last, margin := q.last(offered), q.Contract.Router.StickyMargin; {
	case last != "" && last != c.Label && margin > 0 && known && p-c.Probabilities[last] <= margin:
		return record.RouteDecision{Label: last, Reason: FollowUp, Probabilities: c.Probabilities, Preferred: c.Label}
	case known && p < q.Contract.Router.MinProbability:
		fallback.Error = "unsure"
		return fallback
	}
	return record.RouteDecision{Label: c.Label, Reason: Model, Probabilities: c.Probabilities}
}

// last is the adapter of the turn before, if it is offered.
func (q Question) last(offered []string) string {
	if q.Previous == nil || !slices.Contains(offered, q.Previous.Label) {
		return ""
	}
	return q.Previous.Label
}

// offer gives the labels that the router decides among: all of them, or the shortlist, by
// name so that equal sets are equal prompts, with the default for abstention and the last
// adapter for follow-ups, which rarely say what they are about.
func (q Question) offer(ctx context.Context) (offered []string, by string) {
	k := q.Contract.Router.Shortlist
	if k == 0 || q.Ranker == nil || len(q.Labels) <= k {
		return q.Labels, ""
	}
	ranked, by := q.Ranker.Rank(ctx, q.Contract, q.Labels, q.Text, k)
	offered = slices.Concat(ranked, []string{fallbackLabel(q)})
	if last := q.last(q.Labels); last != "" {
		offered = append(offered, last)
	}
	slices.Sort(offered)
	return slices.Compact(offered), by
}

// prompt is what the router is sent.
func (q Question) prompt(offered []string) []chat.Message {
	if q.View != nil {
		return q.Contract.OverlayPrompt(q.View, offered)
	}
	return q.Contract.RoutePrompt(contract.Ask{Request: q.Text, Previous: q.Previous, Earlier: q.Earlier, Labels: offered})
}

// fallbackLabel is the contract's default; when that is not registered, the first that is.
func fallbackLabel(q Question) string {
	if slices.Contains(q.Labels, q.Contract.Router.Default) {
		return q.Contract.Router.Default
	}
	return q.Labels[0]
}

func ask(ctx context.Context, g backend.Generator, q Question, offered []string) (*chat.Choice, record.Hop, *record.Blob, error) {
	if q.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, q.Timeout)
		defer stop()
	}
	zero := 0.0
	r := backend.Request{
		Messages:  q.prompt(offered),
		Revision:  q.Router,
		Choices:   offered,
		Sampling:  chat.Sampling{Temperature: &zero},
		MaxTokens: q.Contract.Budgets.RouteTokens,
		Salt:      q.Salt,
		Session:   q.Session,
		Hop:       backend.Hop{Kind: string(record.HopRoute)},
		Wanted:    backend.Wanted{TokenIDs: true},
		Begun:     q.Contract.Router.Stem,
		Quiet:     q.Contract.Quiet(),
	}
	hop := record.Hop{Hop: record.HopRoute, Adapter: q.Router, Sampling: r.Sampling}
	var all backend.Collected
	var failed error
	for e, err := range g.Generate(ctx, r) {
		if failed = err; err != nil {
			break
		}
		all.Add(e)
	}
	blob := all.Record(&hop)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		failed = errs.Wrap(errs.Canceled, ctx.Err(), fmt.Sprintf("the router took longer than %s", q.Timeout), "")
	}
	if failed == nil && all.Choice == nil {
		failed = errors.New("the router named no label")
	}
	return all.Choice, hop, blob, failed
}
