package gate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/gate"
	"macaron/internal/mindforge/gate/gatetest"
	"macaron/internal/mindforge/stat"
)

func shipped(t *testing.T) *evaluation.Contract {
	t.Helper()
	c, err := evaluation.Parse(evaluation.Shipped())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The short form of make forge-simulate: with families that shift their items together, a
// candidate that is no better is promoted in at most 5 % of 1,000, one that is 15 points
// better in at least 85 %.
func TestErrorsOfTheSealedTest(t *testing.T) {
	c := shipped(t)
	c.Alpha.Budget = 0.05 / stat.Spend(1, 1)
	for _, sd := range []float64{0.1, 0.2} {
		k, err := gatetest.Promotions(c, gatetest.Truth{Families: 20, Items: 200, Win: 0.1, Loss: 0.1, Both: 0.4, SD: sd}, nil, 1, 1000, 1)
		if err != nil || k > 50 {
			t.Errorf("SD %v: %d of 1,000 promoted %v", sd, k, err)
		}
	}
	c = shipped(t)
	k, err := gatetest.Promotions(c, gatetest.Truth{Families: 20, Items: 200, Win: 0.2, Loss: 0.05, Both: 0.4}, nil, 1, 400, 2)
	if err != nil || k < 340 {
		t.Errorf("power: %d of 400 %v", k, err)
	}
}

func TestAPlantedRegressionIsCaught(t *testing.T) {
	c := shipped(t)
	better := gatetest.Truth{Families: 40, Items: 200, Win: 0.3, Loss: 0.02, Both: 0.4}
	calm := gatetest.Truth{Families: 20, Items: 60, Both: 0.8}
	for want, others := range map[bool][]gatetest.Truth{
		true:  {calm, calm},
		false: {calm, {Families: 20, Items: 60, Both: 0.9, Broken: 4}},
	} {
		k, err := gatetest.Promotions(c, better, others, 1, 100, 3)
		if err != nil || want && k < 90 || !want && k > 2 {
			t.Errorf("%v: %d of 100 %v", want, k, err)
		}
	}
}

// evidence is that of a candidate that is much better and worse at nothing.
func evidence(t *testing.T, c *evaluation.Contract) gate.Evidence {
	t.Helper()
	return gatetest.Sealed(c, gatetest.Truth{Families: 40, Items: 200, Win: 0.4, Loss: 0.01, Both: 0.4},
		[]gatetest.Truth{{Families: 20, Items: 60, Both: 0.8}}, rand.New(rand.NewPCG(4, 4)))
}

// Each flaw alone stops a candidate that is otherwise fine, and says so.
func TestWhatStopsACandidate(t *testing.T) {
	c := shipped(t)
	each := func(f func(o *mindforge.Outcome)) func(*gate.Evidence) {
		return func(e *gate.Evidence) {
			for s := range e.Slices {
				for i := range e.Slices[s].Items {
					f(&e.Slices[s].Items[i].Candidate[0])
				}
			}
		}
	}
	for name, x := range map[string]struct {
		do  func(*gate.Evidence)
		why string
	}{
		"nothing":  {func(*gate.Evidence) {}, ""},
		"tokens":   {each(func(o *mindforge.Outcome) { o.Cost.Prompt *= 3 }), "tokens"},
		"turns":    {each(func(o *mindforge.Outcome) { o.Cost.Turns *= 3 }), "turns"},
		"constant": {each(func(o *mindforge.Outcome) { o.Answer = "0" }), "one answer"},
		"safety":   {func(e *gate.Evidence) { e.Safety[2].Candidate[0].Pass = false }, "safety"},
		"unsafe":   {func(e *gate.Evidence) { e.Safety = nil }, "safety"},
		"cheat":    {func(e *gate.Evidence) { e.Slices[0].Items[0].Candidate[0].Failure = mindforge.Cheat }, "audit"},
	} {
		for _, stage := range []mindforge.Stage{mindforge.Validation, mindforge.Sealed} {
			e := evidence(t, c)
			x.do(&e)
			v, err := gate.Decide(c, stage, e)
			if err != nil || v.Pass != (x.why == "") || !strings.Contains(v.Text(), x.why) {
				t.Errorf("%s at %s: %+v %v", name, stage, v, err)
			}
		}
	}
}

// Where the machinery failed there is no verdict, and none where a test is asked for that the
// contract does not have.
func TestThereIsNoVerdictOfNothing(t *testing.T) {
	c := shipped(t)
	e := evidence(t, c)
	e.Slices[1].Items[3].Champion[0].Failure = mindforge.Infrastructure
	if _, err := gate.Decide(c, mindforge.Sealed, e); errs.CodeOf(err) != errs.UpstreamFailed {
		t.Error(err)
	}
	e = evidence(t, c)
	e.Slices[0].Items[0].Candidate = nil
	if _, err := gate.Decide(c, mindforge.Sealed, e); errs.CodeOf(err) != errs.InvalidRequest {
		t.Error(err)
	}
	for _, j := range []int{0, c.Alpha.Tests + 1} {
		e = evidence(t, c)
		e.Test = j
		if _, err := gate.Decide(c, mindforge.Sealed, e); errs.CodeOf(err) != errs.BudgetSpent {
			t.Error(j, err)
		}
	}
	e = evidence(t, c)
	for i := range e.Slices[0].Items {
		e.Slices[0].Items[i].Family = fmt.Sprint("f", i%3)
	}
	if _, err := gate.Decide(c, mindforge.Sealed, e); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("three families are enough: %v", err)
	}
}

func TestPeopleAndTraffic(t *testing.T) {
	c := shipped(t)
	c.Approval.Keys = []string{"sha256:a", "sha256:b"}
	ask := func(e gate.Evidence, s mindforge.Stage) bool {
		v, err := gate.Decide(c, s, e)
		if err != nil {
			t.Fatal(err)
		}
		return v.Pass
	}
	wide := gate.Changes{Permissions: []string{"tools.shell is new"}, Any: true}
	if ask(gate.Evidence{Changes: wide}, mindforge.Approval) || ask(gate.Evidence{Changes: wide, Approvals: []string{"sha256:c"}}, mindforge.Approval) {
		t.Error("nobody that may has said yes")
	}
	if !ask(gate.Evidence{Changes: wide, Approvals: []string{"sha256:b"}}, mindforge.Approval) || !ask(gate.Evidence{}, mindforge.Approval) {
		t.Error("a yes is not heard")
	}
	was := gate.Traffic{Requests: 400, Failed: 4, MS: 100}
	for is, want := range map[gate.Traffic]bool{
		{Requests: 400, Failed: 6, MS: 120}: true, {Requests: 10, MS: 100}: false, {Requests: 400, Failed: 40, MS: 100}: false, {Requests: 400, Failed: 4, MS: 200}: false,
	} {
		if ask(gate.Evidence{Traffic: [2]gate.Traffic{was, is}}, mindforge.Canary) != want {
			t.Errorf("%+v", is)
		}
	}
	c.Gates.Canary.Requests = 0
	if !ask(gate.Evidence{}, mindforge.Canary) {
		t.Error("traffic is asked for where nothing is served")
	}
}
