package expansion_test

import (
	"math"
	"testing"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/scripted"
)

func coverage(t testing.TB, seed uint64, rounds int) (*scripted.Problem, *expansion.Coverage) {
	t.Helper()
	p, s := problem(t, seed, 1)
	return p, &expansion.Coverage{Seed: seed, Rounds: rounds, Actor: p.Policy, Catalogue: p.Catalogue, Base: p.Base, Items: scripted.World{Policy: p.Policy}.Tasks(6, 5000), Cache: s.Cache}
}

func last(h expansion.Harvest, items []mindforge.Task) expansion.At {
	c := h.Curve(items)
	return c[len(c)-1]
}

// Tries of one contract cover what the formula for items of unequal chances says,
// mean over items of 1 - (1 - p)^k, without any adaptation.
func TestResamplingCoversWhatTheFormulaSays(t *testing.T) {
	p, c := coverage(t, 1, 16)
	h, err := c.Resampled(ctx)
	if err != nil {
		t.Fatal(err)
	}
	curve := h.Curve(c.Items)
	for _, k := range []int{1, 2, 4, 8, 16} {
		want, variance := 0.0, 0.0
		for _, task := range c.Items {
			chance, err := p.Policy.Chance(c.Base, task)
			if err != nil {
				t.Fatal(err)
			}
			y := 1 - math.Pow(1-chance, float64(k))
			want, variance = want+y/float64(len(c.Items)), variance+y*(1-y)
		}
		sd := math.Sqrt(variance) / float64(len(c.Items))
		got := curve[k-1].Covered
		t.Logf("k = %d: %.3f [%.3f, %.3f], formula %.3f", k, got.Mean, got.Low, got.High, want)
		if math.Abs(got.Mean-want) > 3.5*sd {
			t.Errorf("k = %d: %.3f, formula %.3f, give or take %.3f", k, got.Mean, want, sd)
		}
	}
}

// Where contracts differ in what they solve, the adaptive arm covers more than one contract
// tried again and more than random ones, at equal attempts; and its wins replicate.
func TestAdaptiveCoverage(t *testing.T) {
	p, c := coverage(t, 2, 8)
	h, err := c.Adaptive(ctx, scripted.Reflective{Skill: 0.6})
	if err != nil {
		t.Fatal(err)
	}
	same, err := c.Resampled(ctx)
	if err != nil {
		t.Fatal(err)
	}
	random, err := c.Random(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c.Train = scripted.World{Policy: p.Policy}.Tasks(1, 9000)
	fixed, err := c.Portfolio(ctx)
	if err != nil {
		t.Fatal(err)
	}
	learned, err := c.Adaptive(ctx, scripted.Reflective{Skill: 0.6})
	if err != nil {
		t.Fatal(err)
	}
	c.Train = nil
	replayed, err := c.Replay(ctx, h)
	if err != nil {
		t.Fatal(err)
	}
	a, s, r, f := last(h, c.Items), last(same, c.Items), last(random, c.Items), last(fixed, c.Items)
	l := last(learned, c.Items)
	t.Logf("adaptive %.3f in %d attempts, same contract %.3f in %d, random %.3f in %d; after %d and %d on others: adaptive %.3f in %d, portfolio %.3f in %d; replayed %.2f",
		a.Covered.Mean, a.Attempts, s.Covered.Mean, s.Attempts, r.Covered.Mean, r.Attempts, learned.Trained.Attempts, fixed.Trained.Attempts, l.Covered.Mean, l.Attempts, f.Covered.Mean, f.Attempts, replayed.Mean)
	if a.Covered.Mean <= s.Covered.Mean || a.Covered.Mean <= r.Covered.Mean {
		t.Errorf("adaptive %.3f, same contract %.3f, random %.3f", a.Covered.Mean, s.Covered.Mean, r.Covered.Mean)
	}
	for _, x := range []expansion.Harvest{h, same, random, fixed, learned} {
		if x.Spent.Attempts != len(x.Tries) {
			t.Errorf("%s: %d attempts, %d told", x.Arm, x.Spent.Attempts, len(x.Tries))
		}
	}
	if replayed.Mean < 0.3 || replayed.N == 0 {
		t.Errorf("%+v", replayed)
	}
	again, err := c.Adaptive(ctx, scripted.Reflective{Skill: 0.6})
	if err != nil || len(again.Tries) != len(h.Tries) || again.Tries[len(again.Tries)-1].Item != h.Tries[len(h.Tries)-1].Item {
		t.Error("the same seed covers otherwise")
	}
}
