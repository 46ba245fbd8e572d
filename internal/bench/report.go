package bench

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"macaron/internal/contract"
	"macaron/internal/mindforge/stat"
	"macaron/internal/record"
)

// Report is the tables of a measurement.
type Report struct {
	Pins        Pins         `json:"pins"`
	Groups      []Group      `json:"groups"`      // suite by mode
	Families    []Group      `json:"families"`    // suite by family by mode
	Differences []Difference `json:"differences"` // paired, mode against mode
}

// Group is what one mode did on a suite or on one family of it.
type Group struct {
	Suite   string        `json:"suite"`
	Family  string        `json:"family,omitempty"`
	Mode    contract.Mode `json:"mode"`
	Points  stat.Estimate `json:"points"`
	Floor   float64       `json:"floor"`  // of giving the commonest label of the family's other tasks
	Failed  int           `json:"failed"` // without an outcome, because of the machinery
	Turns   float64       `json:"turns"`  // means from here on
	Calls   float64       `json:"calls"`
	Prompt  float64       `json:"prompt_tokens"`
	Output  float64       `json:"output_tokens"`
	Seconds float64       `json:"seconds"`
	CostUSD float64       `json:"cost_usd"` // of all
}

// Difference is A minus B on the tasks that both have an outcome of.
type Difference struct {
	Suite  string        `json:"suite"`
	A      contract.Mode `json:"a"`
	B      contract.Mode `json:"b"`
	Points stat.Estimate `json:"points"`
	Better int           `json:"better"` // tasks where A has more
	Worse  int           `json:"worse"`
}

// Report makes the tables. A task that was run again counts with its last outcome.
func (l *Log) Report() Report {
	last := map[string]Row{}
	for _, r := range l.Rows {
		key := r.Suite + "\x00" + r.Task + "\x00" + string(r.Mode)
		if old, ok := last[key]; !ok || old.Failure != "" || r.Failure == "" {
			last[key] = r
		}
	}
	groups, families := map[string][]Row{}, map[string][]Row{}
	for _, key := range slices.Sorted(maps.Keys(last)) {
		r := last[key]
		k := r.Suite + "\x00" + string(r.Mode)
		groups[k] = append(groups[k], r)
		families[r.Suite+"\x00"+r.Family+"\x00"+string(r.Mode)] = append(families[r.Suite+"\x00"+r.Family+"\x00"+string(r.Mode)], r)
	}
	out := Report{Pins: l.Pins}
	for _, k := range slices.Sorted(maps.Keys(groups)) {
		out.Groups = append(out.Groups, group(groups[k]))
	}
	for _, k := range slices.Sorted(maps.Keys(families)) {
		g := group(families[k])
		g.Family = families[k][0].Family
		out.Families = append(out.Families, g)
	}
	for i, a := range out.Groups {
		for _, b := range out.Groups[i+1:] {
			if a.Suite == b.Suite {
				out.Differences = append(out.Differences, paired(groups[a.Suite+"\x00"+string(a.Mode)], groups[b.Suite+"\x00"+string(b.Mode)]))
			}
		}
	}
	return out
}

func group(rows []Row) Group {
	g := Group{Suite: rows[0].Suite, Mode: rows[0].Mode}
	var values []stat.Value
	for _, r := range rows {
		g.CostUSD += r.CostUSD
		if r.Failure != "" {
			g.Failed++
			continue
		}
		values = append(values, stat.Value{Cluster: r.Cluster, Y: r.Points})
		g.Turns, g.Calls = g.Turns+float64(r.Turns), g.Calls+float64(r.Calls)
		g.Prompt, g.Output, g.Seconds = g.Prompt+float64(r.Prompt), g.Output+float64(r.Output), g.Seconds+float64(r.WallMS)/1000
	}
	n := float64(max(1, len(values)))
	for _, v := range []*float64{&g.Turns, &g.Calls, &g.Prompt, &g.Output, &g.Seconds} {
		*v /= n
	}
	g.Points, g.Floor = stat.Mean(values, 0, 1), floor(rows)
	return g
}

// floor is the share of tasks whose label is the commonest one of the family's other
// tasks: what somebody has who knows those answers and nothing else.
func floor(rows []Row) float64 {
	families, n, right := map[string]map[string]int{}, 0, 0
	for _, r := range rows {
		if r.Guess == "" || r.Failure != "" {
			continue
		}
		if families[r.Family] == nil {
			families[r.Family] = map[string]int{}
		}
		families[r.Family][r.Guess]++
	}
	for _, r := range rows {
		if r.Failure != "" {
			continue
		}
		n++
		if labels := families[r.Family]; labels[r.Guess] > 1 && commonest(labels, r.Guess) == r.Guess {
			right++
		}
	}
	return float64(right) / float64(max(1, n))
}

// commonest is the commonest label once one task's own is left out; the first by name of
// several.
func commonest(labels map[string]int, own string) string {
	best, most := "", 0
	for _, l := range slices.Sorted(maps.Keys(labels)) {
		n := labels[l]
		if l == own {
			n--
		}
		if n > most {
			best, most = l, n
		}
	}
	return best
}

func paired(a, b []Row) Difference {
	d := Difference{Suite: a[0].Suite, A: a[0].Mode, B: b[0].Mode}
	other := map[string]Row{}
	for _, r := range b {
		other[r.Task] = r
	}
	var values []stat.Value
	for _, r := range a {
		o, ok := other[r.Task]
		if !ok || r.Failure != "" || o.Failure != "" {
			continue
		}
		values = append(values, stat.Value{Cluster: r.Cluster, Y: r.Points - o.Points})
		switch cmp.Compare(r.Points, o.Points) {
		case 1:
			d.Better++
		case -1:
			d.Worse++
		}
	}
	d.Points = stat.Mean(values, -1, 1)
	return d
}

// Markdown writes the tables for people.
func (r Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Model %s on %s, seed %d, contract %.19s.\n\n", r.Pins.Model, strings.TrimSpace(r.Pins.Engine), r.Pins.Seed, r.Pins.Contract)
	if l := r.Pins.Limits; l != (record.RunLimits{}) {
		fmt.Fprintf(&b, "Runs are bounded below the contract: turns %d, tokens %d, ms %d (0: as the contract has it).\n\n", l.Turns, l.Tokens, l.WallMS)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Pins.Suites)) {
		fmt.Fprintf(&b, "- %s: %s\n", name, r.Pins.Suites[name])
	}
	b.WriteString("\n| suite | mode | n (clusters) | points, 95 % interval | floor | turns | calls | prompt + output tokens | s | USD | failed |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, g := range r.Groups {
		b.WriteString(g.line(g.Suite))
	}
	if len(r.Differences) > 0 {
		b.WriteString("\n| suite | paired difference | n (clusters) | points, 95 % interval | better, worse |\n|---|---|---|---|---|\n")
	}
	for _, d := range r.Differences {
		fmt.Fprintf(&b, "| %s | %s - %s | %d (%d) | %s | %d, %d |\n", d.Suite, d.A, d.B, d.Points.N, d.Points.Clusters, d.Points, d.Better, d.Worse)
	}
	b.WriteString("\n| family | mode | n (clusters) | points, 95 % interval | floor | turns | calls | prompt + output tokens | s | USD | failed |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, g := range r.Families {
		b.WriteString(g.line(g.Suite + ": " + g.Family))
	}
	return b.String()
}

func (g Group) line(name string) string {
	p := g.Points
	return fmt.Sprintf("| %s | %s | %d (%d) | %s | %.1f | %.1f | %.1f | %.0f + %.0f | %.1f | %.4f | %d |\n", name, g.Mode, p.N, p.Clusters, p, 100*g.Floor, g.Turns, g.Calls, g.Prompt, g.Output, g.Seconds, g.CostUSD, g.Failed)
}
