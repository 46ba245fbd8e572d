package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"macaron/internal/disk"
	"macaron/internal/train/recipe"
)

// pair is a specialist and the union on rows of one specialist, of one seed.
type pair struct{ own, union []recipe.Scored }

// entry is a line of the table: losses in nats a learned token, and their difference with an interval.
type entry struct {
	Rank       int     `json:"rank"`
	Seeds      int     `json:"seeds"`
	Rows       int     `json:"rows"`
	Of         string  `json:"of"` // the specialist; "mean" is over all, each with the same weight
	Specialist float64 `json:"specialist"`
	Union      float64 `json:"union"`
	Difference float64 `json:"difference"` // of union to specialist: above 0 there is interference
	Low        float64 `json:"low"`        // 95 %, by drawing seeds and rows anew
	High       float64 `json:"high"`
}

// calls is the task check of L1.
type calls struct {
	Rank       int `json:"rank"`
	N          int `json:"n"` // calls, over seeds
	Specialist int `json:"specialist"`
	Union      int `json:"union"`
}

// draws of the bootstrap.
const draws = 4000

func report(o options, arms []arm, all []judged) error {
	var table []entry
	var right []calls
	for _, rank := range ranks(arms) {
		seeds, c := gather(arms, all, rank)
		for _, name := range names {
			table = append(table, compare(rank, name, seeds, []string{name}))
		}
		table = append(table, compare(rank, "mean", seeds, names))
		right = append(right, c)
	}
	b, err := json.MarshalIndent(map[string]any{"tokens": o.tokens, "plan": o.plan, "losses": table, "calls": right, "cross": cross(all)}, "", "  ")
	if err != nil {
		return err
	}
	text := markdown(o, table, right)
	fmt.Print(text)
	if err := os.WriteFile(filepath.Join(o.out, "table.md"), []byte(text), 0o644); err != nil {
		return err
	}
	return disk.Replace(filepath.Join(o.out, "result.json"), append(b, '\n'), 0o644)
}

func ranks(arms []arm) (out []int) {
	for _, a := range arms {
		if !slices.Contains(out, a.Rank) {
			out = append(out, a.Rank)
		}
	}
	slices.Sort(out)
	return out
}

// gather has, for each seed of a rank, the pairs by specialist.
func gather(arms []arm, all []judged, rank int) (seeds []map[string]pair, c calls) {
	c.Rank = rank
	for _, a := range arms {
		if a.Rank != rank {
			continue
		}
		by := map[string]pair{}
		for _, j := range all {
			if j.Arm != a {
				continue
			}
			for _, name := range names {
				p := by[name]
				switch j.Name {
				case name:
					p.own = j.Losses[name]
				case union:
					p.union = j.Losses[name]
				}
				by[name] = p
			}
			count(&c, j)
		}
		seeds = append(seeds, by)
	}
	return seeds, c
}

func count(c *calls, j judged) {
	to := &c.Specialist
	switch j.Name {
	case union:
		to = &c.Union
	case "L1":
		c.N += len(j.Calls)
	default:
		return
	}
	for _, ok := range j.Calls {
		if ok {
			*to++
		}
	}
}

// compare gives the difference of union and specialists, and its interval: seeds are drawn
// anew where there are several, and rows within them, the same for both sides and all seeds.
func compare(rank int, of string, seeds []map[string]pair, over []string) entry {
	e := entry{Rank: rank, Seeds: len(seeds), Of: of}
	picks := map[string][]int{}
	for _, name := range over {
		n := len(seeds[0][name].own)
		e.Rows += n
		for i := range n {
			picks[name] = append(picks[name], i)
		}
	}
	e.Specialist, e.Union = losses(seeds, over, picks)
	e.Difference = e.Union - e.Specialist
	r := rand.New(rand.NewPCG(uint64(rank), 29)) //nolint:gosec // a bootstrap is no secret
	var all []float64
	for range draws {
		drawn := make([]map[string]pair, len(seeds))
		for i := range drawn {
			drawn[i] = seeds[r.IntN(len(seeds))]
		}
		for _, name := range over {
			for i := range picks[name] {
				picks[name][i] = r.IntN(len(picks[name]))
			}
		}
		own, joint := losses(drawn, over, picks)
		all = append(all, joint-own)
	}
	slices.Sort(all)
	e.Low, e.High = all[draws/40], all[draws-1-draws/40]
	return e
}

// losses are the mean losses of a learned token, of specialists and of unions: the mean over
// the specialists' rows, each specialist with the same weight.
func losses(seeds []map[string]pair, over []string, picks map[string][]int) (own, joint float64) {
	for _, name := range over {
		var a, b, n float64
		for _, seed := range seeds {
			p := seed[name]
			for _, i := range picks[name] {
				a, b, n = a+p.own[i].Loss, b+p.union[i].Loss, n+p.own[i].Learned
			}
		}
		own, joint = own+a/n/float64(len(over)), joint+b/n/float64(len(over))
	}
	return own, joint
}

// cross has the loss of every adapter on everybody's rows.
func cross(all []judged) map[string]map[string]float64 {
	out := map[string]map[string]float64{}
	for _, j := range all {
		row := map[string]float64{}
		for name, scores := range j.Losses {
			var loss, n float64
			for _, s := range scores {
				loss, n = loss+s.Loss, n+s.Learned
			}
			row[name] = loss / n
		}
		out[j.Arm.String()+"/"+j.Name] = row
	}
	return out
}

func markdown(o options, table []entry, right []calls) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d training tokens a specialist, %d for the union; nats a held-out token; 95 %% intervals by drawing seeds and rows anew\n\n", o.tokens, len(names)*o.tokens)
	b.WriteString("| rank, of the union | seeds | rows of | n | specialist | union | difference |\n|---|---|---|---|---|---|---|\n")
	for _, e := range table {
		fmt.Fprintf(&b, "| %d, %d | %d | %s | %d | %.4f | %.4f | %+.4f (%+.4f to %+.4f) |\n", e.Rank, len(names)*e.Rank, e.Seeds, e.Of, e.Rows, e.Specialist, e.Union, e.Difference, e.Low, e.High)
	}
	b.WriteString("\n| rank | L1's calls, over seeds | right by the specialist | by the union |\n|---|---|---|---|\n")
	for _, c := range right {
		fmt.Fprintf(&b, "| %d | %d | %d | %d |\n", c.Rank, c.N, c.Specialist, c.Union)
	}
	return b.String()
}
