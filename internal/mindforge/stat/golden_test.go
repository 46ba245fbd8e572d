package stat

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// golden is by scipy, statsmodels and confseq (test/bench/stats/gate.py).
type golden struct {
	McNemar [][3]float64
	Tests   []struct {
		Pairs     [][]any
		Flip      *float64
		Drawn     float64 `json:"flip_drawn"`
		T         float64
		Bounded   []float64
		Symmetric []float64
	}
	Tango    [][6]float64
	PassAt   [][4]float64 `json:"pass_at"`
	Rate     [][4]float64
	Holm     []json.RawMessage
	Curve    [][]any
	Coverage [][4]float64
}

func load(t *testing.T) golden {
	t.Helper()
	var g golden
	b, err := os.ReadFile("testdata/gate.json")
	if err == nil {
		err = json.Unmarshal(b, &g)
	}
	if err != nil || len(g.McNemar) < 9 || len(g.Tests) < 6 || len(g.Tango) < 5 || len(g.PassAt) < 6 || len(g.Rate) < 5 || len(g.Holm) < 3 || len(g.Coverage) < 3 {
		t.Fatal(err, g)
	}
	return g
}

func pairsOf(rows [][]any) []Pair {
	var out []Pair
	for _, r := range rows {
		out = append(out, Pair{r[0].(string), r[1].(float64), r[2].(float64)})
	}
	return out
}

func within(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if math.Abs(got-want) > by*max(1, math.Abs(want)) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestTestsAgreeWithScipy(t *testing.T) {
	g := load(t)
	for _, c := range g.McNemar {
		within(t, "McNemar", McNemar(int(c[0]), int(c[1])), c[2], 1e-12)
	}
	for _, c := range g.Tests {
		pairs := pairsOf(c.Pairs)
		within(t, "t", FamilyT(pairs), c.T, 1e-9)
		if c.Flip != nil {
			within(t, "sign flips", SignFlip(pairs, 0, 1), *c.Flip, 1e-12)
		}
		within(t, "drawn sign flips", SignFlip(pairs, 20000, 1), c.Drawn, 0.012)
	}
}

// confseq has the bounded bet as a capital process on (1+d)/2; the symmetric one is a
// likelihood ratio of two points.
func TestWealthAgreesWithConfseq(t *testing.T) {
	for _, c := range load(t).Tests {
		for bet, want := range map[Bet][]float64{Bounded: c.Bounded, Symmetric: c.Symmetric} {
			w, err := NewWealth(bet)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range Blocks(pairsOf(c.Pairs)) {
				if err := w.Add(b); err != nil {
					t.Fatal(err)
				}
			}
			sum := 0.0
			for i := range want {
				within(t, string(bet), math.Exp(w.Logs[i]), want[i], 1e-9)
				sum += want[i]
			}
			within(t, "mixture", math.Exp(w.Log()), sum/float64(len(want)), 1e-9)
		}
	}
}

func TestIntervalsAgreeWithScipy(t *testing.T) {
	g := load(t)
	for _, c := range g.Tango {
		low, high := Tango(int(c[0]), int(c[1]), int(c[2]), c[3])
		within(t, "Tango's lower", low, c[4], 1e-6)
		within(t, "Tango's upper", high, c[5], 1e-6)
	}
	for _, c := range g.Rate {
		r := NewRate(int(c[0]), int(c[1]))
		within(t, "lower", r.Low, c[2], 1e-9)
		within(t, "upper", r.High, c[3], 1e-9)
	}
	for _, c := range g.PassAt {
		within(t, "pass@k", Tries{"", int(c[0]), int(c[1])}.PassAt(int(c[2])), c[3], 1e-12)
	}
	for _, c := range g.Holm {
		var p []float64
		var want []bool
		if err := json.Unmarshal(c, &[]any{&p, &want}); err != nil {
			t.Fatal(err)
		}
		if got := Holm(p, 0.05); !slices.Equal(got, want) {
			t.Errorf("Holm of %v: %v, want %v", p, got, want)
		}
	}
}

func TestCoverageAgreesWithABootstrapOfFamilies(t *testing.T) {
	g := load(t)
	var items []Tries
	for _, c := range g.Curve {
		items = append(items, Tries{c[0].(string), int(c[1].(float64)), int(c[2].(float64))})
	}
	curve := Coverage(items, []int{1, 4, 8, 9}, 7)
	if len(curve) != 3 {
		t.Fatalf("%+v: nine attempts of eight are a point", curve)
	}
	for i, c := range g.Coverage {
		within(t, "coverage", curve[i].Mean, c[1], 1e-12)
		within(t, "lower", curve[i].Low, c[2], 0.015)
		within(t, "upper", curve[i].High, c[3], 0.015)
	}
}
