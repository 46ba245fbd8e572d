package app

import (
	"context"
	"iter"

	"macaron/internal/errs"
	"macaron/internal/mindforge/discovery"
	"macaron/internal/mindforge/loop"
	"macaron/internal/mint/filter"
	"macaron/internal/record"
	"macaron/internal/transcript"
)

// produced gives a run of the loop what people of its tenant had done, through the filter of data
// sets and the same index of evaluation sets that a data set is held to.
func (f *ForgeRun) produced(ctx context.Context, o Options) error {
	if f.Discovery.Production == 0 {
		return nil
	}
	if o.Evaluations == nil {
		return errs.New(errs.Unsupported, "this process does not know the evaluation sets, and what comes from production is held to them", "set discovery.production = 0")
	}
	sets, err := o.Evaluations()
	if err != nil {
		return err
	}
	rules := filter.Defaults()
	index, err := filter.NewIndex(ctx, sets, rules.Evals.NGram, nil)
	if err != nil {
		return err
	}
	a := f.app
	f.Production = &loop.Production{Runs: f.runsOfProduction, Production: discovery.Production{Contract: a.catalogue.Contract, File: a.runs.File, Filter: rules, Index: index}}
	return nil
}

// runsOfProduction gives the tenant's runs of production, the newest first. One that is deleted
// meanwhile is passed over.
func (f *ForgeRun) runsOfProduction(ctx context.Context) iter.Seq2[*transcript.Run, error] {
	return func(yield func(*transcript.Run, error) bool) {
		for before := ""; ; {
			page, err := f.app.runs.List(ctx, f.Owner, before, readPage)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, s := range page {
				if before = s.Run; s.Purpose != record.Production {
					continue
				}
				r, err := f.app.runs.Transcript(ctx, f.Owner, s.Run)
				if errs.CodeOf(err) == errs.NotFound {
					continue
				}
				if !yield(r, err) {
					return
				}
			}
			if len(page) < readPage {
				return
			}
		}
	}
}
