package report

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/stat"
)

// Covered is a coverage with its generation.
type Covered struct {
	Generation int `json:"generation"`
	Coverage
}

// folder makes a report of entries, one after the other.
type folder struct {
	r          *Report
	texts      texts
	generation int // of the entry, by its key
	known      map[ids.Digest]ledger.Candidate
	items      map[int][]mindforge.Task
	steps      map[int][]expansion.Step
	fresh      map[drawn][]stat.Value
	failed     map[Failed]int
	attempts   map[place]int // in batches
	costs      map[place]mindforge.Cost
	budgets    map[string]ledger.Budget
	passes     int
	cheats     int
}

type place struct {
	generation int
	stage      string
}

func newFolder(run string, t texts) *folder {
	return &folder{r: &Report{Schema: Schema, Run: run}, texts: t, known: map[ids.Digest]ledger.Candidate{}, items: map[int][]mindforge.Task{}, steps: map[int][]expansion.Step{},
		fresh: map[drawn][]stat.Value{}, failed: map[Failed]int{}, attempts: map[place]int{}, costs: map[place]mindforge.Cost{}, budgets: map[string]ledger.Budget{}}
}

// entry takes one. Moves of aliases count whoever made them.
func (f *folder) entry(e ledger.Entry) error {
	if e.Run != f.r.Run && e.Kind != ledger.KindAlias {
		return nil
	}
	body, err := e.Decode()
	if err != nil {
		return err
	}
	if m, ok := body.(ledger.Moved); ok {
		f.r.Aliases = append(f.r.Aliases, Move{e.Seq, e.At, e.Run, m})
	}
	if e.Run != f.r.Run {
		return nil
	}
	if f.r.Entries++; f.r.Begun.IsZero() {
		f.r.Begun = e.At
	}
	f.r.Last = e.At
	return f.body(e, body)
}

// generationOf reads the number that begins a key, g002/...; 0: the entry is the run's.
func generationOf(key string) int {
	var n int
	head, _, _ := strings.Cut(key, "/")
	if digits, ok := strings.CutPrefix(head, "g"); ok {
		n, _ = strconv.Atoi(digits) //nolint:errcheck // another key is of no generation
	}
	return n
}

func (f *folder) body(e ledger.Entry, body ledger.Body) error {
	f.generation = generationOf(e.Key)
	switch x := body.(type) {
	case ledger.Run:
		f.r.Settings = x
	case ledger.Step:
		f.step(x)
	case ledger.Candidate:
		f.known[x.Hash] = x
		if f.generation > 0 {
			f.at(f.generation).Candidates[x.Candidate.Operator]++
		}
		f.spend("proposals", x.Cost)
	case ledger.Outcomes:
		f.outcomes(x)
	case ledger.Decision:
		f.decision(e, x)
	case ledger.Made:
		return f.made(x)
	case ledger.Budget:
		f.budgets[x.What] = x
	case ledger.Refused:
		f.r.Rejected = append(f.r.Rejected, Rejection{e.Seq, f.generation, x.What, x.Candidate, f.label(x.Candidate), f.edits(x.Candidate), x.Why, x.By})
	}
	return nil
}

// at gives the n-th generation.
func (f *folder) at(n int) *Generation {
	i := slices.IndexFunc(f.r.Generations, func(g Generation) bool { return g.N == n })
	if i < 0 {
		f.r.Generations = append(f.r.Generations, Generation{N: n, Candidates: map[mindforge.Operator]int{}})
		i = len(f.r.Generations) - 1
	}
	return &f.r.Generations[i]
}

// step takes a boundary. A generation begins with a champion, and ends with one.
func (f *folder) step(x ledger.Step) {
	g := f.at(x.Generation)
	switch {
	case x.Name == "generation" && x.State == "begun":
		g.Champion, g.Standing = x.Result, x.Result
	case x.Name == "generation" && x.State == "ended":
		g.Standing, g.Promoted = x.Result, x.Result != g.Champion
	case x.Name == "run":
		f.r.Ended = x.Note
	}
	g.Steps = append(g.Steps, StepState{x.Name, x.State, x.Note})
	f.spend(x.Name, x.Cost)
}

func (f *folder) spend(stage string, c mindforge.Cost) {
	p := place{f.generation, stage}
	f.costs[p] = f.costs[p].Plus(c)
}

// outcomes takes attempts that are told as sums.
func (f *folder) outcomes(x ledger.Outcomes) {
	f.spend(string(x.Stage), x.Cost)
	f.passes += x.Passes
	f.cheats += x.Failures[mindforge.Cheat]
	for class, n := range x.Failures {
		f.failed[Failed{Stage: string(x.Stage), Failure: class, Place: class.Place()}] += n
	}
	f.r.Measured = append(f.r.Measured, Measured{f.generation, x.Candidate, f.label(x.Candidate), string(x.Stage), x.Suite, x.Items, rate(x)})
}

// rate is the share of passes. Attempts of one family depend on each other.
func rate(x ledger.Outcomes) stat.Estimate {
	if len(x.Families) == 0 {
		r := stat.NewRate(x.Passes, max(x.Cost.Attempts, x.Passes))
		return stat.Estimate{Mean: r.Value(), Low: r.Low, High: r.High, N: r.N}
	}
	var values []stat.Value
	for _, name := range slices.Sorted(maps.Keys(x.Families)) {
		t := x.Families[name]
		for i := range min(max(t.Tries, 0), maxTries) {
			y := 0.0
			if i < t.Passes {
				y = 1
			}
			values = append(values, stat.Value{Cluster: name, Y: y})
		}
	}
	return stat.Mean(values, 0, 1)
}

// maxTries of one family that an interval is computed of: an entry that counts more has been
// written by nobody who made them.
const maxTries = 100_000

func (f *folder) decision(e ledger.Entry, x ledger.Decision) {
	d := x.Decision
	f.spend("gate: "+string(d.Stage), d.Cost)
	f.r.Decisions = append(f.r.Decisions, Verdict{e.Seq, f.generation, d.Candidate, f.label(d.Candidate), d.Stage, d.Pass, d.Why, d.Spent, d.Count, x.Envelope != ""})
	if !d.Pass {
		f.r.Rejected = append(f.r.Rejected, Rejection{e.Seq, f.generation, string(d.Stage), d.Candidate, f.label(d.Candidate), f.edits(d.Candidate), d.Why, f.known[d.Candidate].Candidate.Proposer})
	}
}

// label names a candidate for people.
func (f *folder) label(d ids.Digest) string {
	c, ok := f.known[d]
	if !ok {
		return d.Short()
	}
	return "g" + strconv.Itoa(c.Candidate.Generation) + " " + string(c.Candidate.Operator) + " " + d.Short()
}

func (f *folder) edits(d ids.Digest) (out []string) {
	for _, e := range f.known[d].Candidate.Edits {
		out = append(out, e.Kind+" "+e.Component)
	}
	return out
}

// end puts what was counted into an order.
func (f *folder) end() *Report {
	r := f.r
	for k, n := range f.failed {
		k.N = n
		r.Failures = append(r.Failures, k)
	}
	slices.SortFunc(r.Failures, func(a, b Failed) int {
		return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.Failure, b.Failure), cmp.Compare(a.Stage, b.Stage))
	})
	r.Audited = stat.NewRate(f.cheats, f.passes+f.cheats)
	for p, c := range f.costs {
		if c != (mindforge.Cost{}) {
			r.Costs, r.Cost = append(r.Costs, StageCost{p.generation, p.stage, c}), r.Cost.Plus(c)
		}
	}
	slices.SortFunc(r.Costs, func(a, b StageCost) int {
		return cmp.Or(cmp.Compare(a.Generation, b.Generation), cmp.Compare(a.Stage, b.Stage))
	})
	for _, name := range slices.Sorted(maps.Keys(f.budgets)) {
		r.Budgets = append(r.Budgets, f.budgets[name])
	}
	slices.SortFunc(r.Generations, func(a, b Generation) int { return cmp.Compare(a.N, b.N) })
	for i := range r.Generations {
		g := &r.Generations[i]
		g.Label = f.label(g.Standing)
		f.freshly(g)
	}
	r.Commands = commands(r)
	return r
}

// freshly tells how often the champion of a generation solved tasks that were drawn for it,
// world by world.
func (f *folder) freshly(g *Generation) {
	var all []stat.Value
	for _, at := range slices.SortedFunc(maps.Keys(f.fresh), func(a, b drawn) int { return cmp.Compare(a.world, b.world) }) {
		if at.generation == g.N {
			all = append(all, f.fresh[at]...)
			f.r.Measured = append(f.r.Measured, Measured{g.N, g.Champion, f.label(g.Champion), "discovery", at.world, 0, stat.Mean(f.fresh[at], 0, 1)})
		}
	}
	if len(all) > 0 {
		f.r.Measured = append(f.r.Measured, Measured{g.N, g.Champion, f.label(g.Champion), "discovery", everywhere, 0, stat.Mean(all, 0, 1)})
	}
}

// everywhere is the suite of all worlds.
const everywhere = "all worlds"

// commands give the numbers again.
func commands(r *Report) []Command {
	out := []Command{
		{"this report", "macaron forge report " + quoted(r.Run)},
		{"every number of it", "macaron forge report " + quoted(r.Run) + " --json"},
		{"the ledger, checked", "macaron forge lineage --head " + strconv.FormatInt(r.Head.Seq, 10) + ":" + string(r.Head.Hash)},
	}
	if r.Settings.Command != "" {
		out = append(out, Command{"the run", r.Settings.Command})
	}
	return out
}
