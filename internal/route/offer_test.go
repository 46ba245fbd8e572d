package route

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/contract"
	"macaron/internal/record"
)

// ranked is a shortlist in a fixed order.
type ranked []string

func (r ranked) Rank(_ context.Context, _ *contract.Contract, _ []string, _ string, k int) ([]string, string) {
	return r[:k], "lexical"
}

func TestTheRouterSeesTheShortlistOnly(t *testing.T) {
	q, g := question(t), chose("L3", nil)
	q.Contract.Router.Shortlist, q.Ranker = 2, ranked{"L3", "L2", "L1"}
	q.Previous = &contract.Previous{Label: "L1", Text: "book a table"}
	o, err := Decide(t.Context(), g, q)
	want := record.RouteDecision{Label: "L3", Reason: Model, Offered: []string{"L0", "L1", "L2", "L3"}, RankedBy: "lexical"}
	if d := cmp.Diff(want, o.Decision); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	q.Previous = nil
	if _, err = Decide(t.Context(), g, q); err != nil {
		t.Fatal(err)
	}
	// By name, with the default for abstention; what is not offered is not in the prompt.
	if d := cmp.Diff([]string{"L0", "L2", "L3"}, g.asked.Choices); d != "" {
		t.Error(d)
	}
	system := g.asked.Messages[0].Text()
	if strings.Contains(system, "L1") || !strings.Contains(system, "take the first of L3, L2, L0.") {
		t.Errorf("the prompt is %q", system)
	}
	// A label of the contract that was not offered is no choice.
	if o, _ := Decide(t.Context(), chose("L1", nil), q); o.Decision.Reason != Fallback || o.Decision.Error != "no_label" {
		t.Errorf("%+v", o.Decision)
	}
	q.Labels = []string{"L0", "L1"}
	if _, err = Decide(t.Context(), g, q); err != nil || !slices.Equal(g.asked.Choices, q.Labels) {
		t.Errorf("%v: few labels need no shortlist: %q", err, g.asked.Choices)
	}
}

func TestTheLastAdapterKeepsAFollowUp(t *testing.T) {
	for _, c := range []struct {
		margin, last float64
		label        string
		want         record.RouteDecision
	}{
		{0, .48, "L1", record.RouteDecision{Label: "L2", Reason: Model}},
		{.1, .45, "L1", record.RouteDecision{Label: "L1", Reason: FollowUp, Preferred: "L2"}},
		{.1, .35, "L1", record.RouteDecision{Label: "L2", Reason: Model}},
		{1, 0, "L1", record.RouteDecision{Label: "L1", Reason: FollowUp, Preferred: "L2"}},
		{1, 0, "L2", record.RouteDecision{Label: "L2", Reason: Model}},
		{1, 0, "gone", record.RouteDecision{Label: "L2", Reason: Model}},
		{1, 0, "", record.RouteDecision{Label: "L2", Reason: Model}},
	} {
		q := question(t)
		q.Contract.Router.StickyMargin, q.Previous = c.margin, &contract.Previous{Label: c.label, Text: "x"}
		p := map[string]float64{"L1": c.last, "L2": .5}
		o, err := Decide(t.Context(), chose("L2", p), q)
		c.want.Probabilities = p
		if d := cmp.Diff(c.want, o.Decision); err != nil || d != "" {
			t.Errorf("%+v: %v %s", c, err, d)
		}
	}
	q := question(t)
	q.Contract.Router.StickyMargin, q.Previous = 1, &contract.Previous{Label: "L1", Text: "x"}
	if o, _ := Decide(t.Context(), chose("L2", nil), q); o.Decision.Label != "L2" {
		t.Errorf("without probabilities nobody is near: %+v", o.Decision)
	}
}

// Labels that are beginnings of others stay what they are.
func TestLabelsThatBeginAlike(t *testing.T) {
	q := question(t)
	q.Labels = []string{"L0", "L1", "L10"}
	for _, l := range q.Labels {
		if o, err := Decide(t.Context(), chose(l, nil), q); err != nil || o.Decision.Label != l {
			t.Errorf("%s gives %+v, %v", l, o.Decision, err)
		}
	}
}
