package toolshed

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"macaron/internal/canonical"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/tool"
)

// trial is a tool on cases, in a fresh sandbox.
type trial struct {
	tool    record.ToolSaved
	after   []string // sources that share its namespace, behind it
	cases   []Case
	seed    uint64
	strange []string // names of tools that it does not declare
}

// tried is what came of a trial.
type tried struct {
	passed  []bool
	results []string // as JSON, or the error
	effects []string // that it had and does not declare
	died    bool     // the sandbox is of no further use
}

// try runs a tool on cases in a fresh sandbox.
func (s *Shed) try(ctx context.Context, t trial) (tried, error) {
	b, err := s.bench(ctx, t.names(), t.seed, s.wall())
	if err != nil {
		return tried{}, err
	}
	defer b.close()
	return b.try(ctx, t)
}

// names are the tools that a trial's code can see.
func (t trial) names() []string { return append(slices.Clone(t.tool.Uses), t.strange...) }

func (b *bench) try(ctx context.Context, t trial) (tried, error) {
	fix := &fixtures{trial: t}
	var args []json.RawMessage
	for _, c := range t.cases {
		args = append(args, c.Args)
	}
	sources := slices.Concat([]string{t.tool.Source}, t.after)
	r, why, err := b.run(ctx, fix.answer, "_try", sources, t.tool.Name, t.tool.Effect == string(tool.Pure), b.roots, args)
	if err != nil {
		return tried{}, err
	}
	out := tried{passed: make([]bool, len(t.cases)), results: make([]string, len(t.cases)), effects: fix.undeclared()}
	for i := range t.cases {
		out.results[i] = why
		if r != nil && i < len(r.Results) {
			out.passed[i], out.results[i] = t.cases[i].met(r.Results[i])
		}
	}
	if out.died = r == nil; !out.died {
		out.effects = append(out.effects, r.Effects...)
	}
	slices.Sort(out.effects)
	out.effects = slices.Compact(out.effects)
	return out, nil
}

// met compares by canonical form: 1 and 1.0 are equal, and the order of members is not told.
func (c Case) met(r result) (bool, string) {
	if r.Error != "" || len(r.Value) == 0 {
		return false, r.Error
	}
	got, err := canonical.JSON(r.Value)
	want, err2 := canonical.JSON(c.Want)
	return err == nil && err2 == nil && bytes.Equal(got, want), tool.Bounded(string(r.Value), 200)
}

// fixtures answer the calls of a tool from its case.
type fixtures struct {
	trial
	mu  sync.Mutex
	at  int
	bad []string
}

func (f *fixtures) answer(_ context.Context, _, name string, args json.RawMessage) (json.RawMessage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if name == "advance" {
		f.at++
		return json.RawMessage("null"), nil
	}
	if !slices.Contains(f.tool.Uses, name) {
		f.bad = append(f.bad, "call of "+name)
		return nil, errs.New(errs.Forbidden, "the tool does not declare that it uses "+name, "")
	}
	got, err := canonical.JSON(args)
	if err == nil && f.at < len(f.cases) {
		for _, x := range f.cases[f.at].Calls {
			if want, err := canonical.JSON(x.Args); err == nil && x.Name == name && bytes.Equal(want, got) {
				return x.Value, nil
			}
		}
	}
	return nil, errs.New(errs.NotFound, "the case has no answer to this call of "+name, "")
}

func (f *fixtures) undeclared() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.bad)
}
