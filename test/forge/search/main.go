// Command search measures the search over contracts on planted problems, whose truth is
// known, and writes the tables of docs/RESULTS.md: make forge-search-bench.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"slices"
	"strconv"
	"strings"

	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/scripted"
	"macaron/internal/mindforge/stat"
)

var ctx = context.Background()

func main() {
	log.SetFlags(0)
	seeds := flag.Uint64("seeds", 40, "planted problems")
	flag.Uint64Var(&first, "from", 0, "number of the first of them: those below 40 were looked at while the search was made")
	skill := flag.Float64("skill", 0.6, "of the reflective proposer")
	only := flag.String("only", "", "one of recall, curse, coverage")
	flag.StringVar(&chosen, "arms", "", "of recall, by numbers from 0 with commas between; all")
	flag.Parse()
	for name, table := range map[string]func(uint64, float64) error{"recall": recall, "curse": curse, "coverage": coverage} {
		if *only != "" && *only != name {
			continue
		}
		if err := table(*seeds, *skill); err != nil {
			log.Fatal(err)
		}
	}
}

// first is the number of the first problem.
var first uint64

// problem is a planted one with a search over it.
func problem(seed uint64, attempts int, skill float64) (*scripted.Problem, *expansion.Search, error) {
	seed += first
	p, err := scripted.Plant(seed, scripted.DefaultPlan)
	if err != nil {
		return nil, nil, err
	}
	w := scripted.World{Policy: p.Policy}
	return p, &expansion.Search{Settings: expansion.Settings{Seed: seed, Attempts: attempts}, Actor: p.Policy, Catalogue: p.Catalogue,
		Proposer: scripted.Reflective{Skill: skill}, Base: p.Base, Train: w.Tasks(3, 0), Valid: w.Tasks(2, 1000)}, nil
}

// arm is one way to search.
type arm struct {
	name     string
	attempts int
	set      func(*expansion.Search)
	random   bool
}

var arms = []arm{
	{"search", 1000, nil, false},
	{"search", 1500, nil, false},
	{"search", 2000, nil, false},
	{"search without evidence (uniform proposer)", 2000, func(s *expansion.Search) { s.Proposer = expansion.Uniform{} }, false},
	{"random contracts, the best taken", 2000, nil, true},
	{"random contracts, the best taken", 4000, nil, true},
	{"random mutation, accepted as in the search", 2000, mutation, false},
	{"random mutation, accepted as in the search", 4000, mutation, false},
}

// mutation draws one committed edit more at each step, whatever is believed of it or was seen of the
// parent; who is a parent and which child is kept is as in the search.
func mutation(s *expansion.Search) {
	s.Proposer, s.Rates = expansion.Uniform{}, expansion.Rates{Reflect: 1}
}

// chosen are the arms that are run; "": all.
var chosen string

func runs(arm int) bool {
	return chosen == "" || slices.Contains(strings.Split(chosen, ","), strconv.Itoa(arm))
}

// recall tells which share of the planted improvements each arm ends with.
func recall(seeds uint64, skill float64) error {
	fmt.Printf("\n| arm | attempts | recall, mean [95 %%] | quartiles | problems with 0.9 or more | harmful | true rate | fresh seeds less true |\n|---|---|---|---|---|---|---|---|\n")
	for i, a := range arms {
		if !runs(i) {
			continue
		}
		var found, model []float64
		harm, truth, bias := 0.0, 0.0, 0.0
		var scored expansion.Calibration
		for seed := range seeds {
			p, s, err := problem(seed, a.attempts, skill)
			if err != nil {
				return err
			}
			if a.set != nil {
				a.set(s)
			}
			run := s.Run
			if a.random {
				run = s.RandomSearch
			}
			r, err := run(ctx)
			if err != nil {
				return err
			}
			rate, err := p.Policy.Rate(r.Best, s.Valid)
			if err != nil {
				return err
			}
			found, harm, truth, bias = append(found, p.Recall(r.Best.Contract)), harm+p.Harm(r.Best.Contract), truth+rate, bias+r.Replayed-rate
			model = append(model, p.Recall(r.Agreed.Contract))
			scored = plus(scored, r.Predicted)
		}
		n := float64(seeds)
		tell(a, a.name, found, harm/n, truth/n, bias/n)
		if a.random {
			tell(a, "the same random attempts, read by the search's model", model, math.NaN(), math.NaN(), math.NaN())
		}
		if scored.Scored > 0 {
			fmt.Printf("<!-- %s at %d: %d predictions; fixes right %d of %d, seen %d of %d; gain %.3f predicted, %.3f seen, off %.3f -->\n", a.name, a.attempts, scored.Scored,
				scored.Fixes.Precision.K, scored.Fixes.Precision.N, scored.Fixes.Recall.K, scored.Fixes.Recall.N, scored.Predicted/float64(scored.Scored), scored.Seen/float64(scored.Scored), scored.Off/float64(scored.Scored))
		}
	}
	return nil
}

// plus adds scores of predictions; means become sums.
func plus(a, b expansion.Calibration) expansion.Calibration {
	n := float64(b.Scored)
	return expansion.Calibration{Scored: a.Scored + b.Scored, Fixes: a.Fixes.Plus(b.Fixes), Regress: a.Regress.Plus(b.Regress),
		Predicted: a.Predicted + n*b.Predicted, Seen: a.Seen + n*b.Seen, Off: a.Off + n*b.Off}
}

func tell(a arm, name string, found []float64, harm, truth, bias float64) {
	slices.Sort(found)
	n, good := len(found), 0
	var values []stat.Value
	for i, x := range found {
		values = append(values, stat.Value{Cluster: strconv.Itoa(i), Y: x}) // problems are independent
		if x >= 0.9-1e-9 {
			good++
		}
	}
	m := stat.Mean(values, 0, 1)
	fmt.Printf("| %s | %d | %.3f [%.3f, %.3f] | %.1f, %.1f, %.1f | %d of %d | %s | %s | %s |\n", name, a.attempts, m.Mean, m.Low, m.High, found[n/4], found[n/2], found[3*n/4], good, n, cell("%.3f", harm), cell("%.3f", truth), cell("%+.3f", bias))
}

// cell writes what was measured.
func cell(form string, x float64) string {
	if math.IsNaN(x) {
		return "not measured"
	}
	return fmt.Sprintf(form, x)
}

// curse tells how much too good the best of equal candidates looks, and on fresh seeds.
func curse(seeds uint64, skill float64) error {
	chosen, again, truth := 0.0, 0.0, 0.0
	for seed := range seeds {
		p, s, err := problem(seed, 3000, skill)
		if err != nil {
			return err
		}
		p.Policy.Effects = nil
		for name, f := range p.Policy.Families {
			f.Tools, f.Turns = nil, 0
			p.Policy.Families[name] = f
		}
		r, err := s.RandomSearch(ctx)
		if err != nil {
			return err
		}
		rate, err := p.Policy.Rate(p.Base, s.Valid)
		if err != nil {
			return err
		}
		chosen, again, truth = chosen+r.Chosen, again+r.Replayed, truth+rate
	}
	n := float64(seeds)
	fmt.Printf("\n| 73 candidates of which none is better, 40 tasks, %d problems | rate |\n|---|---|\n| true | %.3f |\n| the best, by the attempts that it was chosen by | %.3f |\n| the same one on fresh seeds | %.3f |\n", seeds, truth/n, chosen/n, again/n)
	return nil
}

const rounds = 8

// coverage tells what the adaptive arm and its controls cover in 8 attempts an item.
func coverage(seeds uint64, skill float64) error {
	type sums struct{ covered, attempts, before, again float64 }
	all := map[string]*sums{}
	formula := 0.0
	names := []string{"same contract", "random contracts", "adaptive", "best fixed portfolio, after practice", "adaptive, after practice"}
	for _, n := range names {
		all[n] = &sums{}
	}
	for seed := range seeds {
		p, _, err := problem(seed, 1, skill)
		if err != nil {
			return err
		}
		w := scripted.World{Policy: p.Policy}
		c := &expansion.Coverage{Seed: first + seed, Rounds: rounds, Actor: p.Policy, Catalogue: p.Catalogue, Base: p.Base, Items: w.Tasks(6, 5000)}
		for _, t := range c.Items {
			chance, err := p.Policy.Chance(p.Base, t)
			if err != nil {
				return err
			}
			formula += (1 - math.Pow(1-chance, rounds)) / float64(len(c.Items)) / float64(seeds)
		}
		adaptive := func(x context.Context) (expansion.Harvest, error) {
			return c.Adaptive(x, scripted.Reflective{Skill: skill})
		}
		for i, run := range []func(context.Context) (expansion.Harvest, error){c.Resampled, c.Random, adaptive, c.Portfolio, adaptive} {
			if i == 3 {
				c.Train = w.Tasks(1, 9000)
			}
			h, err := run(ctx)
			if err != nil {
				return err
			}
			curve := h.Curve(c.Items)
			again, err := c.Replay(ctx, h)
			if err != nil {
				return err
			}
			s, end, n := all[names[i]], curve[len(curve)-1], float64(seeds)
			s.covered, s.attempts, s.before, s.again = s.covered+end.Covered.Mean/n, s.attempts+float64(end.Attempts)/n, s.before+float64(h.Trained.Attempts)/n, s.again+again.Mean/n
		}
	}
	fmt.Printf("\n| arm, %d attempts an item at most, 120 items of 20 families, %d problems | covered | attempts | practice on other tasks | pass again on a fresh seed |\n|---|---|---|---|---|\n", rounds, seeds)
	for _, n := range names {
		s := all[n]
		fmt.Printf("| %s | %.3f | %.0f | %.0f | %.2f |\n", n, s.covered, s.attempts, s.before, s.again)
	}
	fmt.Printf("| same contract, by the formula for items of unequal chances | %.3f | | | |\n", formula)
	return nil
}
