package exam

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"macaron/internal/bench/ui4a"
	"macaron/internal/errs"
)

// Comparison is two runs on the cases that both have.
type Comparison struct {
	A     string       `json:"a"`
	B     string       `json:"b"`
	Rows  []Difference `json:"rows"`
	Cases int          `json:"cases"`
	Swap  *Swap        `json:"swap,omitempty"` // where two judges have answered
}

// Difference is one score of both, and A minus B with its interval over paired cases.
type Difference struct {
	Name string   `json:"name"`
	A    Interval `json:"a"`
	B    Interval `json:"b"`
	D    Interval `json:"difference"`
}

// Compare sets two runs side by side and writes the page beside the first.
func Compare(dirA, dirB string) (*Comparison, string, error) {
	a, err := Load(dirA)
	if err != nil {
		return nil, "", err
	}
	b, err := Load(dirB)
	if err != nil {
		return nil, "", err
	}
	if a.Version != b.Version {
		return nil, "", errs.New(errs.InvalidRequest, "the runs are scored by different rules: "+a.Version+" and "+b.Version, "run one of them again")
	}
	pairs := paired(a, b)
	if len(pairs) == 0 {
		return nil, "", errs.New(errs.InvalidRequest, "the runs have no case in common", "")
	}
	c := &Comparison{A: a.Source, B: b.Source, Cases: len(pairs)}
	c.Rows = append(c.Rows, difference("Composite", pairs, func(r CaseResult) (float64, bool) { return r.Score, true }),
		difference("Composite, rules alone", pairs, func(r CaseResult) (float64, bool) { return r.Rules, true }))
	for _, name := range ui4a.LayerNames {
		c.Rows = append(c.Rows, difference(name, pairs, func(r CaseResult) (float64, bool) { v, ok := r.byLayer()[name]; return v, ok }))
	}
	c.Swap = swapOf(a, b, pairs)
	p := report{Swap: c.Swap, Title: fmt.Sprintf("%s and %s", a.Source, b.Source), A: a, B: b, DirA: dirA, DirB: dirB, Cases: pairs}
	for _, d := range c.Rows {
		p.Rows = append(p.Rows, row{Name: d.Name, A: d.A, B: d.B, D: d.D})
	}
	slices.SortStableFunc(p.Cases, func(x, y pair) int { return compare(math.Abs(y.A.Score-y.B.Score), math.Abs(x.A.Score-x.B.Score)) })
	path, err := p.write(filepath.Join(dirA, "compare.html"))
	return c, path, err
}

func paired(a, b *Run) []pair {
	other := map[string]*CaseResult{}
	for i := range b.Cases {
		other[b.Cases[i].ID] = &b.Cases[i]
	}
	var out []pair
	for _, c := range a.Cases {
		if o := other[c.ID]; o != nil && o.Failure == "" && c.Failure == "" {
			out = append(out, pair{c, o})
		}
	}
	return out
}

func difference(name string, pairs []pair, of func(CaseResult) (float64, bool)) Difference {
	var a, b, d []float64
	for _, p := range pairs {
		x, ok1 := of(p.A)
		y, ok2 := of(*p.B)
		if ok1 && ok2 {
			a, b, d = append(a, x), append(b, y), append(d, x-y)
		}
	}
	return Difference{name, bootstrap(a), bootstrap(b), bootstrap(d)}
}
