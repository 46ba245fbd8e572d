package stat

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"macaron/internal/errs"
)

// The shares of all tests together are the budget: after a thousand, less than a thousandth
// of it is left.
func TestTheBudgetIsNeverOverspent(t *testing.T) {
	sum := 0.0
	for j := 1; j <= 100000; j++ {
		sum += Spend(0.05, j)
	}
	if sum > 0.05 || sum < 0.0499 || Spend(0.05, 0) != 0 {
		t.Errorf("%v is spent", sum)
	}
}

// A wealth that is written and read again goes on as if nothing had happened, and a family
// is bet on once.
func TestWealthPersists(t *testing.T) {
	whole, err := NewWealth(Symmetric)
	if err != nil {
		t.Fatal(err)
	}
	kept := whole
	kept.Logs = slices.Clone(whole.Logs)
	for i, d := range []float64{0.3, -0.1, 0.2, 0.4} {
		b := Block{fmt.Sprint(i), 5, d}
		if err := whole.Add(b); err != nil {
			t.Fatal(err)
		}
		if err := kept.Add(b); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(kept)
		if err != nil {
			t.Fatal(err)
		}
		if kept = (Wealth{}); json.Unmarshal(text, &kept) != nil {
			t.Fatal(string(text))
		}
	}
	if whole.Log() != kept.Log() || whole.Log() <= 0 {
		t.Errorf("%v kept, %v whole", kept.Log(), whole.Log())
	}
	if err := kept.Add(Block{"2", 5, 0.3}); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("a family is bet on twice: %v", err)
	}
	if err := (&Wealth{Bet: "all", Logs: []float64{9}}).Add(Block{"x", 1, 1}); errs.CodeOf(err) != errs.FormatInvalid {
		t.Errorf("%v", err)
	}
	if err := kept.Add(Block{"x", 1, math.NaN()}); err == nil {
		t.Error("NaN is bet on")
	}
}

// Ville: a bet that is looked at after each of 60 families crosses 1/alpha in fewer than
// alpha of 4,000 nulls, where a McNemar test that is looked at as often errs many times more.
func TestPeekingIsPaidFor(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	crossed, fooled := 0, 0
	for range 4000 {
		w, err := NewWealth(Symmetric)
		if err != nil {
			t.Fatal(err)
		}
		wins, losses, up, p := 0, 0, false, 1.0
		for f := range 60 {
			shift, d := 0.2*random.NormFloat64(), 0.0
			for range 5 {
				switch u := random.Float64(); {
				case u < 0.1+shift/2:
					wins, d = wins+1, d+0.2
				case u > 0.9+shift/2:
					losses, d = losses+1, d-0.2
				}
			}
			if err := w.Add(Block{fmt.Sprint(f), 5, d}); err != nil {
				t.Fatal(err)
			}
			up, p = up || w.Reaches(0.05), min(p, McNemar(wins, losses))
		}
		if up {
			crossed++
		}
		if p < 0.05 {
			fooled++
		}
	}
	if crossed > 200 || fooled < 800 {
		t.Errorf("of 4,000: bet %d, McNemar %d", crossed, fooled)
	}
}

func TestNonInferiorityHasToBeShown(t *testing.T) {
	pairs := func(loss map[int]int) (out []Pair) {
		for i := range 200 {
			b := 1.0
			if i/10 < len(loss) && i%10 < loss[i/10] {
				b = 0
			}
			out = append(out, Pair{fmt.Sprint(i / 10), 1, b})
		}
		return out
	}
	if ok, low := NonInferior(pairs(nil), 0.02, 0.05); !ok || low < -0.016 {
		t.Errorf("nothing differs in 200 items, and the bound is %v", low)
	}
	if ok, low := NonInferior(pairs(map[int]int{0: 10}), 0.1, 0.05); ok {
		t.Errorf("a family that is lost is let pass: %v", low)
	}
	if ok, _ := NonInferior(pairs(nil)[:10], 0.5, 0.05); ok {
		t.Error("one family shows something")
	}
}

func TestPredictionsAreScored(t *testing.T) {
	c := Calibrate([]string{"a", "b", "c", "c"}, []string{"b", "d"})
	if c.Precision.K != 1 || c.Precision.N != 3 || c.Recall.N != 2 || c.Plus(c).Recall.N != 4 {
		t.Errorf("%+v", c)
	}
	up, down := Moved([]Pair{{"x", 0, 1}, {"y", 1, 0}, {"z", 1, 1}}, 0.2)
	if !slices.Equal(up, []string{"x"}) || !slices.Equal(down, []string{"y"}) {
		t.Error(up, down)
	}
}

// e-BH finds the ones that stand out, and none where none does.
func TestEBH(t *testing.T) {
	if got := EBH([]float64{1, 90, 3, 45}, 0.05); !slices.Equal(got, []bool{false, true, false, true}) {
		t.Error(got)
	}
	if got := EBH([]float64{1, 70, 3, 45, 2, 2, 2}, 0.05); slices.Contains(got, true) {
		t.Error(got)
	}
}
