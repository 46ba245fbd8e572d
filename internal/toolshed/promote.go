package toolshed

import (
	"context"
	"fmt"
	"slices"

	"macaron/internal/canonical"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/tool"
)

// What a set of cases must do before it can promote anything.
const (
	maxMutants = 32
	minKilled  = 0.8    // share of the mutants that it tells from the tool
	perMutant  = 1_000  // milliseconds; one that does not end is told
	reseed     = 0x9e37 // of the second trial, whose answers must be the same
)

// Promote judges a tool by a set of cases and promotes it if it passes. The judgement is on
// record either way; the error says only that there was none.
func (s *Shed) Promote(ctx context.Context, owner string, digest ids.Digest, set Set, known []string) (Entry, error) {
	e, err := s.Show(ctx, owner, digest)
	if err != nil {
		return e, err
	}
	cases, err := s.cases(ctx, set)
	if err != nil {
		return e, err
	}
	if err := unseen(e.Saved, cases); err != nil {
		return e, err
	}
	j := record.ToolJudged{Judgement: s.IDs.New(ids.Job), Judge: judge, Tried: len(cases)}
	if j.Cases, err = s.Cases.Put(owner, cases); err != nil {
		return e, err
	}
	t := trial{tool: e.Saved, cases: cases, strange: strange(known, e.Saved.Uses)}
	for _, step := range []func(context.Context, trial, *record.ToolJudged) error{s.answers, s.steady, s.mutants, s.regression(owner, e)} {
		if err := step(ctx, t, &j); err != nil {
			return e, err
		}
		if j.Reason != "" {
			break
		}
	}
	j.Passed = j.Reason == ""
	return s.add(ctx, owner, e, j)
}

// strange are the known names of tools that a tool does not declare, and that code can write.
func strange(known, uses []string) []string {
	return slices.DeleteFunc(slices.Clone(known), func(n string) bool {
		return slices.Contains(uses, n) || !function.MatchString(n) || n == "report" || n == "advance"
	})
}

// cases makes the list of a set.
func (s *Shed) cases(ctx context.Context, set Set) ([]Case, error) {
	cases := set.Cases
	if set.Generator != nil {
		made, err := s.generate(ctx, *set.Generator)
		if err != nil {
			return nil, err
		}
		cases = append(slices.Clone(cases), made...)
	}
	if len(cases) < minCases || len(cases) > maxCases {
		return nil, errs.New(errs.InvalidRequest, fmt.Sprintf("a tool is judged by %d to %d cases; these are %d", minCases, maxCases, len(cases)), "")
	}
	return cases, nil
}

// generate runs the operator's generator in a sandbox that no tool shares.
func (s *Shed) generate(ctx context.Context, g Generator) ([]Case, error) {
	r, why, err := s.once(ctx, "_generate", g.Source, g.Seed)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, errs.New(errs.InvalidRequest, "the generator fails: "+why, "it defines generate(random), which gives a list of arguments, each an object, and expected(**arguments)")
	}
	return r.Cases, nil
}

// unseen refuses cases that the author knows: his own examples.
func unseen(t record.ToolSaved, cases []Case) error {
	known := map[string]bool{}
	for _, x := range t.Examples {
		if b, err := canonical.JSON(x.Args); err == nil {
			known[string(b)] = true
		}
	}
	for i, c := range cases {
		b, err := canonical.JSON(c.Args)
		if err != nil {
			return err
		}
		if known[string(b)] {
			return errs.New(errs.InvalidRequest, fmt.Sprintf("case %d is one of the author's own examples", i+1), "leave it out: a tool is judged by cases that its author has not seen")
		}
	}
	return nil
}

// answers wants every case met and no effect that is not declared.
func (s *Shed) answers(ctx context.Context, t trial, j *record.ToolJudged) error {
	ran, err := s.try(ctx, t)
	if err != nil {
		return err
	}
	for _, ok := range ran.passed {
		if !ok {
			j.Failed++
		}
	}
	j.Effects = ran.effects
	switch {
	case len(j.Effects) > 0:
		j.Reason = "it has effects that it does not declare"
	case j.Failed > 0:
		j.Reason = fmt.Sprintf("it fails %d of %d cases", j.Failed, j.Tried)
	}
	return nil
}

// steady wants the same answers in another order, another sandbox and with another seed.
func (s *Shed) steady(ctx context.Context, t trial, j *record.ToolJudged) error {
	t.cases = slices.Clone(t.cases)
	slices.Reverse(t.cases)
	t.seed = reseed
	ran, err := s.try(ctx, t)
	if err == nil && slices.Contains(ran.passed, false) {
		j.Reason = "its answers depend on more than its arguments: in another order, or with another seed, they differ"
	}
	return err
}

// mutants wants the cases to tell the tool from copies with a fault. The copies share a
// sandbox, a new one when one of them ends it; the tool itself comes last, and must pass
// there too: else they failed by what an earlier one left behind.
func (s *Shed) mutants(ctx context.Context, t trial, j *record.ToolJudged) error {
	r, why, err := s.once(ctx, "_mutants", t.tool.Source, maxMutants)
	if err != nil {
		return err
	}
	if r == nil || len(r.Mutants) == 0 || len(r.Mutants) > maxMutants {
		j.Reason = "no faulty copies of it can be made: " + why
		return nil
	}
	itself := t.tool.Source
	var b *bench
	for _, source := range append(r.Mutants, itself) {
		if b == nil {
			if b, err = s.bench(ctx, t.names(), t.seed, min(perMutant, s.wall())); err != nil {
				return err
			}
		}
		t.tool.Source = source
		ran, err := b.try(ctx, t)
		if err != nil || source == itself || ran.died {
			b.close()
			b = nil
		}
		if err != nil {
			return err
		}
		killed := slices.Contains(ran.passed, false)
		if source == itself && killed {
			j.Reason = "it does not work again after it was loaded twice, so its faulty copies cannot be told from it"
			return nil
		}
		if source != itself {
			j.Mutants++
		}
		if killed {
			j.Killed++
		}
	}
	if float64(j.Killed) < minKilled*float64(j.Mutants) {
		j.Reason = fmt.Sprintf("the cases are too weak: they tell %d of %d faulty copies from the tool", j.Killed, j.Mutants)
	}
	return nil
}

// regression wants every tool that was promoted before to work beside this one.
func (s *Shed) regression(owner string, e Entry) func(context.Context, trial, *record.ToolJudged) error {
	return func(ctx context.Context, t trial, j *record.ToolJudged) error {
		all, err := s.List(ctx, owner)
		if err != nil {
			return err
		}
		for _, o := range all {
			if o.promotedWith() == "" || o.Tool == e.Tool || o.Saved.Name == e.Saved.Name {
				continue // a newer version takes the place of the older one
			}
			other, err := s.Show(ctx, owner, o.Tool)
			if err != nil {
				return err
			}
			cases, err := s.Cases.Get(owner, other.promotedWith())
			if err != nil {
				return err
			}
			ran, err := s.try(ctx, trial{tool: other.Saved, after: []string{e.Saved.Source}, cases: cases})
			if err != nil {
				return err
			}
			for _, ok := range ran.passed {
				if j.Regression++; !ok {
					j.Regressed++
				}
			}
			if j.Regressed > 0 {
				j.Reason = "beside it the promoted tool " + other.Saved.Name + " fails"
				return nil
			}
		}
		return nil
	}
}

// Promoted gives a promoted tool, to be called. Call answers the calls that it makes itself.
func (s *Shed) Promoted(ctx context.Context, owner string, digest ids.Digest, run string, call Caller) (tool.Tool, error) {
	e, err := s.Show(ctx, owner, digest)
	if err != nil {
		return nil, err
	}
	if e.Status != Promoted {
		return nil, errs.New(errs.Forbidden, "the tool "+e.Saved.Name+" is "+string(e.Status)+", not promoted", "macaron tool show tells why")
	}
	return promoted{s, owner, e, run, call}, nil
}
