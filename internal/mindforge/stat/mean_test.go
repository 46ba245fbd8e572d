package stat

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// The golden is by statsmodels and scipy (test/bench/stats/mean.py).
func TestIntervalsAgreeWithStatsmodels(t *testing.T) {
	var golden struct {
		Intervals []struct {
			Y             []float64
			Cluster       []string
			Mean          float64
			Low, High, SE float64
		}
		T    [][2]float64
		Zero [][2]float64 `json:"zero_of"`
	}
	b, err := os.ReadFile("testdata/mean.json")
	if err == nil {
		err = json.Unmarshal(b, &golden)
	}
	if err != nil || len(golden.Intervals) < 6 || len(golden.T) < 9 || len(golden.Zero) < 4 {
		t.Fatal(err, golden)
	}
	for i, c := range golden.Intervals {
		var values []Value
		for j, y := range c.Y {
			values = append(values, Value{c.Cluster[j], y})
		}
		got := Mean(values, -100, 100)
		if !near(got.Mean, c.Mean) || !near(got.Low, c.Low) || !near(got.High, c.High) {
			t.Errorf("%d: %+v, want %v [%v, %v]", i, got, c.Mean, c.Low, c.High)
		}
		if cut := Mean(values, 0, 1); cut.Low < 0 || cut.High > 1 || cut.Low != max(0, got.Low) {
			t.Errorf("%d: %+v is not cut", i, cut)
		}
	}
	for _, c := range golden.T {
		if got := TQuantile(0.975, c[0]); !near(got, c[1]) {
			t.Errorf("t with %v degrees: %v, want %v", c[0], got, c[1])
		}
	}
	for _, c := range golden.Zero {
		var none, all, diff []Value
		for i := range int(c[0]) {
			for range 3 {
				name := string(rune('a' + i))
				none, all, diff = append(none, Value{name, 0}), append(all, Value{name, 1}), append(diff, Value{name, 0})
			}
		}
		if got := Mean(none, 0, 1); got.Low != 0 || !near(got.High, c[1]) {
			t.Errorf("none of %v clusters: %+v, want [0, %v]", c[0], got, c[1])
		}
		if got := Mean(all, 0, 1); got.High != 1 || !near(got.Low, 1-c[1]) {
			t.Errorf("all of %v clusters: %+v", c[0], got)
		}
		if got := Mean(diff, -1, 1); !near(got.Low, -c[1]) || !near(got.High, c[1]) {
			t.Errorf("no difference in %v clusters: %+v", c[0], got)
		}
	}
	if got := Mean([]Value{{"a", 1}, {"a", 0}}, 0, 1); got.Low != 0 || got.High != 1 {
		t.Errorf("one cluster: %+v", got)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }
