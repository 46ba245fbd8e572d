package bench

import (
	"context"
	"slices"
	"time"

	"macaron/internal/clock"
	"macaron/internal/contract"
	"macaron/internal/errs"
)

// Plan is what a measurement does.
type Plan struct {
	Suites []Suite
	Modes  []contract.Mode
	Clock  clock.Clock
	Within time.Duration // no task is begun after it; 0: no bound
	Told   func(Row)     // called with each outcome; may be nil
}

// Measure runs what the log has no outcome of yet, and keeps each outcome at once. All
// modes of a task come one behind the other, and suites take turns, so that a measurement
// that ends early has compared like with like.
func Measure(ctx context.Context, r Runner, p Plan, l *Log) error {
	began := p.Clock.Now()
	for n := range longest(p.Suites) {
		for _, s := range p.Suites {
			items := s.Items()
			if n >= len(items) {
				continue
			}
			for _, mode := range p.Modes {
				if l.Done(s.Name(), items[n].ID, mode) {
					continue
				}
				if p.Within > 0 && p.Clock.Now().Sub(began) > p.Within {
					return nil
				}
				row, err := r.Run(ctx, s, items[n], mode)
				if err == nil {
					err = l.Add(row)
				}
				if err != nil && ctx.Err() != nil {
					return errs.Wrap(errs.Canceled, context.Cause(ctx), "the measurement was stopped", "give the command again: it goes on where the file of outcomes ends")
				}
				if err != nil {
					return err
				}
				if p.Told != nil {
					p.Told(row)
				}
			}
		}
	}
	return nil
}

func longest(all []Suite) int {
	n := 0
	for _, s := range all {
		n = max(n, len(s.Items()))
	}
	return n
}

// Spread orders items so that every beginning has as many of each family as can be:
// tasks of a measurement that ends early are not those of the first families alone.
func Spread(items []Item) []Item {
	by, families := map[string][]Item{}, []string{}
	for _, i := range items {
		if by[i.Family] == nil {
			families = append(families, i.Family)
		}
		by[i.Family] = append(by[i.Family], i)
	}
	out := make([]Item, 0, len(items))
	for len(out) < len(items) {
		for _, f := range families {
			if len(by[f]) > 0 {
				out, by[f] = append(out, by[f][0]), by[f][1:]
			}
		}
	}
	return slices.Clip(out)
}
