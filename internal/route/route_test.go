package route

import (
	"context"
	"errors"
	"iter"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/record"
)

// scripted is an engine whose faults are the point of these tests.
type scripted struct {
	events []chat.Event
	err    error
	hang   bool
	asked  *backend.Request
}

func (s *scripted) Generate(ctx context.Context, r backend.Request) iter.Seq2[chat.Event, error] {
	s.asked = &r
	return func(yield func(chat.Event, error) bool) {
		if s.hang {
			<-ctx.Done()
			yield(chat.Event{}, ctx.Err())
			return
		}
		for _, e := range s.events {
			if !yield(e, nil) {
				return
			}
		}
		if s.err != nil {
			yield(chat.Event{}, s.err)
		}
	}
}
func (s *scripted) Capabilities() backend.Capabilities { return backend.Capabilities{Choices: true} }
func (s *scripted) Ready(context.Context) error        { return nil }

func chose(label string, p map[string]float64) *scripted {
	return &scripted{events: []chat.Event{{Start: &chat.Start{PromptTokens: 3}}, {Choice: &chat.Choice{Label: label, Probabilities: p}},
		{Finish: &chat.Finish{Reason: chat.FinishStop, Usage: chat.Usage{PromptTokens: 3, OutputTokens: 2}}}}}
}

func question(t testing.TB) Question {
	t.Helper()
	text, err := os.ReadFile("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := contract.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return Question{Contract: c, Labels: c.Labels(), Router: adapter.Revision{Name: "L0"}, Text: "write a loop"}
}

func TestTheModelChooses(t *testing.T) {
	q, g := question(t), chose("L2", map[string]float64{"L0": .1, "L1": .1, "L2": .7, "L3": .1})
	q.Previous = &contract.Previous{Label: "L1", Text: "book a table"}
	o, err := Decide(t.Context(), g, q)
	if err != nil || o.Decision.Label != "L2" || o.Decision.Reason != Model || o.Decision.Probabilities["L2"] != .7 {
		t.Errorf("got %+v, %v", o.Decision, err)
	}
	if o.Hop.Usage.PromptTokens != 3 || o.Hop.Hop != record.HopRoute || o.Hop.Route.Label != "L2" {
		t.Errorf("hop %+v", o.Hop)
	}
	if d := cmp.Diff([]string{"L0", "L1", "L2", "L3"}, g.asked.Choices); d != "" {
		t.Error(d)
	}
	if g.asked.MaxTokens != q.Contract.Budgets.RouteTokens || *g.asked.Sampling.Temperature != 0 || len(g.asked.Tools) != 0 {
		t.Errorf("asked %+v", g.asked)
	}
}

func TestNoModelIsAskedWhenNothingIsOpen(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Question)
		want   record.RouteDecision
	}{
		"forced":             {func(q *Question) { q.Forced = "L3" }, record.RouteDecision{Label: "L3", Reason: Forced}},
		"sticky":             {func(q *Question) { q.Pinned = "L1" }, record.RouteDecision{Label: "L1", Reason: Sticky}},
		"sticky over forced": {func(q *Question) { q.Pinned, q.Forced = "L1", "L3" }, record.RouteDecision{Label: "L1", Reason: Sticky}},
		"retired but pinned": {func(q *Question) { q.Pinned, q.Labels = "L9", []string{"L0", "L1"} }, record.RouteDecision{Label: "L9", Reason: Sticky}},
		"single":             {func(q *Question) { q.Labels = []string{"L2"} }, record.RouteDecision{Label: "L2", Reason: Single}},
	} {
		q, g := question(t), &scripted{err: errors.New("must not be asked")}
		tc.change(&q)
		o, err := Decide(t.Context(), g, q)
		if d := cmp.Diff(tc.want, o.Decision); err != nil || d != "" || g.asked != nil {
			t.Errorf("%s: %v, %s", name, err, d)
		}
	}
	q := question(t)
	q.Forced = "L9"
	if _, err := Decide(t.Context(), &scripted{}, q); errs.CodeOf(err) != errs.AdapterNotFound {
		t.Errorf("an unknown forced label gives %v", err)
	}
	q.Forced, q.Labels = "", nil
	if _, err := Decide(t.Context(), &scripted{}, q); errs.CodeOf(err) != errs.AdapterNotFound {
		t.Errorf("no adapters give %v", err)
	}
}

// B11: no routing failure reaches the client.
func TestAnyFailureFallsBackB11(t *testing.T) {
	retry := errs.New(errs.Overloaded, "busy", "")
	for name, tc := range map[string]struct {
		g     *scripted
		cause string
	}{
		"429":           {&scripted{err: retry}, "overloaded"},
		"502":           {&scripted{err: errs.New(errs.UpstreamFailed, "x", "")}, "upstream_failed"},
		"uncoded":       {&scripted{err: errors.New("x")}, "internal"},
		"empty":         {&scripted{}, "internal"},
		"unknown label": {chose("L9", nil), "no_label"},
		"empty label":   {chose("", nil), "no_label"},
		"hangs":         {&scripted{hang: true}, "canceled"},
		"cut":           {&scripted{events: []chat.Event{{Start: &chat.Start{}}}, err: errs.New(errs.UpstreamUnavailable, "x", "")}, "upstream_unavailable"},
	} {
		q := question(t)
		q.Timeout = time.Minute
		if tc.g.hang { // that ends it
			q.Timeout = 20 * time.Millisecond
		}
		o, err := Decide(t.Context(), tc.g, q)
		if err != nil || o.Decision.Label != "L0" || o.Decision.Reason != Fallback || o.Decision.Error != tc.cause {
			t.Errorf("%s: %+v, %v", name, o.Decision, err)
		}
	}
}

func TestUnsureFallsBackAndKeepsTheProbabilities(t *testing.T) {
	q := question(t)
	q.Contract.Router.MinProbability = 0.5
	o, err := Decide(t.Context(), chose("L2", map[string]float64{"L0": .3, "L1": .3, "L2": .4}), q)
	if err != nil || o.Decision.Label != "L0" || o.Decision.Error != "unsure" || o.Decision.Probabilities["L2"] != .4 {
		t.Errorf("got %+v, %v", o.Decision, err)
	}
	// An upstream that gives no probabilities cannot be unsure.
	if o, _ := Decide(t.Context(), chose("L2", nil), q); o.Decision.Label != "L2" {
		t.Errorf("got %+v", o.Decision)
	}
}

func TestALeavingClientIsNotAFallback(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Decide(ctx, &scripted{hang: true}, question(t)); errs.CodeOf(err) != errs.Canceled {
		t.Errorf("got %v", err)
	}
}

// Whatever comes back, the label is a registered one.
func TestTheLabelIsAlwaysRegistered(t *testing.T) {
	base := question(t)
	rapid.Check(t, func(t *rapid.T) {
		q := base
		q.Labels = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"L0", "L1", "L2", "L3", "x"}), 1, 5, rapid.ID).Draw(t, "labels")
		var g *scripted
		if rapid.Bool().Draw(t, "fails") {
			g = &scripted{err: errors.New("x")}
		} else {
			g = chose(rapid.SampledFrom([]string{"L0", "L1", "x", "", "L0 ", "l0"}).Draw(t, "label"), nil)
		}
		o, err := Decide(context.Background(), g, q)
		if err != nil || !slices.Contains(q.Labels, o.Decision.Label) {
			t.Fatalf("%+v, %v", o.Decision, err)
		}
	})
}
