// Command simulate counts the errors of the gate's sealed test on candidates of which the
// truth is known: how often one that is no better is promoted, with effects of families and a
// look after each family, how often one that is better is, and whether regressions are caught.
// It prints the table of docs/RESULTS.md.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/gate"
	"macaron/internal/mindforge/gate/gatetest"
	"macaron/internal/mindforge/stat"
	"macaron/test/forge/rig"
)

func main() {
	n := flag.Int("n", 1000, "promotions of each line")
	flag.Parse()
	if err := run(*n); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// sim is a run of the program: the contract, and how many promotions make a line.
type sim struct {
	c *evaluation.Contract
	n int
}

func run(n int) error {
	c, err := evaluation.Parse(evaluation.Shipped())
	if err != nil {
		return err
	}
	s := sim{c, n}
	for _, f := range []func() error{s.nulls, s.lives, s.power, s.regressions, s.whole} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// single is the contract with a budget of which the first test has alpha.
func (s sim) single(test string, alpha float64) *evaluation.Contract {
	c := *s.c
	c.Statistic.Test, c.Statistic.Draws, c.Alpha.Budget = test, 2000, alpha/stat.Spend(1, 1)
	return &c
}

func (s sim) rate(c *evaluation.Contract, t gatetest.Truth, others []gatetest.Truth, j int) (string, error) {
	k, err := gatetest.Promotions(c, t, others, j, s.n, 1)
	r := stat.NewRate(k, s.n)
	return fmt.Sprintf("%.1f (%.1f - %.1f)", 100*r.Value(), 100*r.Low, 100*r.High), err
}

// tests are the columns.
var tests = []string{"e-process", "sign-flip", "mcnemar"}

func (s sim) line(name string, t gatetest.Truth, alpha float64) error {
	fmt.Printf("| %s |", name)
	for _, test := range tests {
		r, err := s.rate(s.single(test, alpha), t, nil, 1)
		if err != nil {
			return err
		}
		fmt.Printf(" %s |", r)
	}
	fmt.Println()
	return nil
}

func (s sim) nulls() error {
	fmt.Printf("\nPromotions in %% of %d candidates that are no better, one test at alpha 0.05 (95 %% interval)\n\n| families x items, SD of a family's shift | e-process, looked at after each family | sign-flip, once | McNemar, once |\n|---|---|---|---|\n", s.n)
	for _, f := range []int{20, 25, 50} {
		for _, items := range []int{100, 200} {
			for _, sd := range []float64{0, 0.1, 0.2} {
				if err := s.line(fmt.Sprintf("%d x %d, %.1f", f, items/f, sd), gatetest.Truth{Families: f, Items: items, Win: 0.1, Loss: 0.1, Both: 0.4, SD: sd}, 0.05); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// lives: every sealed test of a contract, all of them of candidates that are no better.
func (s sim) lives() error {
	fmt.Printf("\nContracts in %% of %d that ever promote one of %d candidates, none better, budget %.2f\n\n| SD | e-process | sign-flip |\n|---|---|---|\n", s.n, s.c.Alpha.Tests, s.c.Alpha.Budget)
	for _, sd := range []float64{0, 0.1, 0.2} {
		fmt.Printf("| %.1f |", sd)
		for _, test := range tests[:2] {
			k, err := s.ever(test, sd)
			if err != nil {
				return err
			}
			r := stat.NewRate(k, s.n)
			fmt.Printf(" %.1f (%.1f - %.1f) |", 100*r.Value(), 100*r.Low, 100*r.High)
		}
		fmt.Println()
	}
	return nil
}

func (s sim) ever(test string, sd float64) (promoted int, err error) {
	c := *s.c
	c.Statistic.Test, c.Statistic.Draws = test, 1000
	t := gatetest.Truth{Families: 20, Items: 200, Win: 0.1, Loss: 0.1, Both: 0.4, SD: sd}
	for i := range s.n {
		r := rand.New(rand.NewPCG(7, uint64(i)))
		for j := 1; j <= c.Alpha.Tests; j++ {
			e := gatetest.Sealed(&c, t, nil, r)
			e.Test = j
			v, err := gate.Decide(&c, mindforge.Sealed, e)
			if err != nil {
				return 0, err
			}
			if v.Pass {
				promoted++
				break
			}
		}
	}
	return promoted, nil
}

func (s sim) power() error {
	fmt.Printf("\nPromotions in %% of %d candidates that are better: 0.20 of the items only by the candidate, 0.05 only by the champion\n\n| families x items, SD | alpha | e-process | sign-flip | McNemar |\n|---|---|---|---|---|\n", s.n)
	for _, f := range []int{20, 25, 50} {
		for _, items := range []int{100, 200} {
			for _, sd := range []float64{0, 0.1} {
				for _, alpha := range []float64{0.05, stat.Spend(0.05, 1), stat.Spend(0.05, 5)} {
					if err := s.line(fmt.Sprintf("%d x %d, %.1f | %.4f", f, items/f, sd, alpha), gatetest.Truth{Families: f, Items: items, Win: 0.2, Loss: 0.05, Both: 0.4, SD: sd}, alpha); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// regressions: better by 20 points in the primary suite, and worse in another.
func (s sim) regressions() error {
	c := *s.c
	fmt.Printf("\nPromotions in %% of %d candidates that gain 20 points (first line: nothing is worse), other suite of 60 items in 20 families, margin %.2f\n\n| the other suite | promoted |\n|---|---|\n", s.n, c.Regressions()[0].Margin)
	better := gatetest.Truth{Families: 40, Items: 200, Win: 0.25, Loss: 0.05, Both: 0.4}
	for _, o := range []struct {
		name  string
		truth gatetest.Truth
	}{
		{"as before, 4 % of the items differ by chance", gatetest.Truth{Families: 20, Items: 60, Win: 0.02, Loss: 0.02, Both: 0.6}},
		{"10 points worse", gatetest.Truth{Families: 20, Items: 60, Win: 0.02, Loss: 0.12, Both: 0.6}},
		{"20 points worse", gatetest.Truth{Families: 20, Items: 60, Win: 0.02, Loss: 0.22, Both: 0.6}},
		{"2 of 20 families broken", gatetest.Truth{Families: 20, Items: 60, Both: 0.9, Broken: 2}},
		{"4 of 20 families broken", gatetest.Truth{Families: 20, Items: 60, Both: 0.9, Broken: 4}},
	} {
		r, err := s.rate(&c, better, []gatetest.Truth{o.truth}, 1)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %s |\n", o.name, r)
	}
	return nil
}

// whole: minibatch, validation and sealed test of the contracts to begin from, as they stand, over
// the families that the worlds have.
func (s sim) whole() error {
	research, err := evaluation.Research()
	if err != nil {
		return err
	}
	small, err := evaluation.Parse(research)
	if err != nil {
		return err
	}
	var worlds []mindforge.World
	for _, w := range rig.Worlds {
		worlds = append(worlds, w)
	}
	fmt.Printf("\nCandidates in %% of %d that pass minibatch, validation and the first sealed test, all families shifted with SD 0.1\n\n| the primary suite, alone / lost | the other suites | %s | %s |\n|---|---|---|---|\n", s.n, s.c.Name, small.Name)
	same := gatetest.Truth{Win: 0.05, Loss: 0.05, Both: 0.4, SD: 0.1}
	for _, x := range []struct {
		win, loss float64
		others    string
	}{{0.1, 0.1, "as before"}, {0.15, 0.05, "as before"}, {0.2, 0.05, "as before"}, {0.2, 0.05, "better as well"}, {0.3, 0.05, "as before"}, {0.3, 0.05, "better as well"}} {
		better, other := gatetest.Truth{Win: x.win, Loss: x.loss, Both: 0.4, SD: 0.1}, same
		if x.others == "better as well" {
			other = better
		}
		fmt.Printf("| %.2f / %.2f | %s |", x.win, x.loss, x.others)
		for _, c := range []*evaluation.Contract{s.c, small} {
			k, err := gatetest.Through(c, worlds, better, other, s.n, 3)
			if err != nil {
				return err
			}
			r := stat.NewRate(k, s.n)
			fmt.Printf(" %.1f (%.1f - %.1f) |", 100*r.Value(), 100*r.Low, 100*r.High)
		}
		fmt.Println()
	}
	return nil
}
