package money

import (
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestAmountsAsText(t *testing.T) {
	for text, want := range map[string]USD{
		"0": 0, "0.000": 0, "3": 3e9, "0.3": 3e8, ".5": 5e8, "2.50": 25e8, "0.000000001": 1, "1.8e-05": 18000, "1E+3": 1e12, "1000000000": Most,
		"10e-10": 1, "0e-40": 0, "000000000001": 1e9,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", ".", "-1", "+1", "1_0", "0x1", "NaN", "inf", "1e", "1e99999999999", "1e41", "0.0000000001", "1000000000.1", "1,5", " 1", "$1", "1.2.3"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q was read as %d", text, got)
		}
	}
	for u, want := range map[USD]string{0: "0", 1: "0.000000001", 25e8: "2.5", 18000: "0.000018", Most: "1000000000", -5e8: "-0.5"} {
		b, err := json.Marshal(u)
		if err != nil || string(b) != want {
			t.Errorf("%d is %s, %v", u, b, err)
		}
		var back USD
		if err := json.Unmarshal(b, &back); u >= 0 && (err != nil || back != u) {
			t.Errorf("%s is read back as %d, %v", b, back, err)
		}
	}
	// What encoding/json writes of a float is read as well.
	for range 1000 {
		want := USD(rand.Int64N(1e15))
		b, err := json.Marshal(want.Dollars())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Parse(string(b)); err != nil || got != want {
			t.Fatalf("%s: %d, %v", b, got, err)
		}
	}
}

// Costs are those of exact fractions, rounded once.
func TestCostsAreExact(t *testing.T) {
	for range 2000 {
		r := Rate{USD(rand.Int64N(int64(MostRate))), USD(rand.Int64N(1e12)), USD(rand.Int64N(int64(MostRate)))}
		prompt, output := rand.IntN(1<<31), rand.IntN(1<<31)
		cached := rand.IntN(prompt + 1)
		sum := new(big.Int)
		for _, p := range [][2]int64{{int64(prompt - cached), int64(r.Input)}, {int64(cached), int64(r.Cached)}, {int64(output), int64(r.Output)}} {
			sum.Add(sum, new(big.Int).Mul(big.NewInt(p[0]), big.NewInt(p[1])))
		}
		want := sum.Add(sum, big.NewInt(million/2)).Div(sum, big.NewInt(million)).String()
		if got := strconv.FormatInt(int64(r.Cost(prompt, cached, output)), 10); got != want {
			t.Fatalf("%+v %d %d %d: %s, not %s", r, prompt, cached, output, got, want)
		}
	}
	if got := (Rate{3e9, 3e8, 15e9}).Cost(1000, 400, 10); got != 1_800_000+120_000+150_000 {
		t.Errorf("%d", got)
	}
	if got := (Rate{1, 1, 1}).Cost(-1, 5, -1); got != 0 {
		t.Errorf("%d", got)
	}
}

func TestTheLineThatNamesMostCounts(t *testing.T) {
	all := Table{{Rate: Rate{Input: 1}}, {Engine: "a", Rate: Rate{Input: 2}}, {Model: "m", Rate: Rate{Input: 3}}, {Engine: "a", Model: "m", Rate: Rate{Input: 4}}}
	for _, c := range []struct {
		engine, model string
		want          USD
	}{{"a", "m", 4}, {"b", "m", 3}, {"a", "n", 2}, {"b", "n", 1}} {
		if got, known := all.Find(c.engine, c.model); !known || got.Input != c.want {
			t.Errorf("%s %s: %d", c.engine, c.model, got.Input)
		}
	}
	if _, known := all[3:].Find("b", "m"); known {
		t.Error("a line of another engine counts")
	}
}
