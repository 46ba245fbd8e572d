// Command failing draws tasks of the worlds' train families and keeps those that the default
// model fails in every sample under the shipped contract, until there are enough:
// make forge-base-failing. It goes on where it was stopped.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/expansion"
	"macaron/test/forge/rig"
)

type draw struct {
	*rig.Rig
	kept    *rig.Kept
	pair    expansion.Key // with the hash of the pair
	samples int
	made    int
}

func main() {
	n := flag.Int("n", 100, "tasks that the set is to have")
	samples := flag.Int("samples", 4, "attempts of each")
	contract := flag.String("contract", "macaron.toml", "contract that is served")
	state := flag.String("state", ".cache/forge/base-failing.jsonl", "attempts so far")
	out := flag.String("out", "test/forge/base-failing.json", "where the set goes once it is whole")
	most := flag.Duration("for", 0, "stop after this time; 0: when the set is whole")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	if *most > 0 {
		ctx, stop = context.WithTimeout(ctx, *most)
	}
	err := run(ctx, *n, *samples, *contract, *state, *out)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, n, samples int, contract, state, out string) error {
	r, err := rig.Open(ctx, contract)
	if err != nil {
		return err
	}
	k, err := rig.OpenKept(state, r.Hashes)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	d := draw{Rig: r, kept: k, samples: samples}
	d.pair.Pair, err = expansion.PairHash(r.Pair)
	var s rig.Set
	if err == nil {
		s, err = d.set(ctx, n)
	}
	fmt.Printf("%d of %d tasks that the base fails, %d solved, %d attempts in %s\n", len(s.Tasks), n, len(s.Solved), k.Len(), state)
	if err == nil {
		var text []byte
		if text, err = json.MarshalIndent(s, "", " "); err == nil {
			err = disk.Replace(out, append(text, '\n'), 0o644)
		}
	}
	return errors.Join(err, k.Close(), r.Close())
}

// set goes through the families in rounds.
func (d *draw) set(ctx context.Context, n int) (rig.Set, error) {
	all := rig.Families(evaluation.Train)
	s := rig.Set{Schema: rig.Schema, Hashes: d.Hashes, Families: len(all), Samples: d.samples, Solved: []string{}, Tasks: []rig.Failing{}}
	for round := 0; ; round++ {
		for _, f := range all {
			if len(s.Tasks) == n {
				return s, nil
			}
			t, err := rig.Draw(d.Hashes, "base-failing", f, s.Level, round)
			if err == nil {
				err = d.measure(ctx, t, &s)
			}
			if err != nil {
				return s, err
			}
		}
	}
}

// measure tries a task until it passes or has failed in every sample.
func (d *draw) measure(ctx context.Context, t mindforge.Task, s *rig.Set) error {
	s.Drawn++
	f := rig.Failing{ID: t.ID, Asked: rig.Asked(t), Seed: t.Seed, Failures: map[mindforge.Failure]int{}}
	for try, n := uint64(1), 0; n < d.samples; try++ {
		o, err := d.attempt(ctx, t, try)
		if err != nil {
			return err
		}
		s.Cost = s.Cost.Plus(o.Cost)
		switch {
		case o.Pass:
			s.Solved = append(s.Solved, t.ID)
			return nil
		case o.Failure != mindforge.Infrastructure:
			f.Failures[o.Failure]++
			n++
		case try > uint64(4*d.samples):
			return errs.New(errs.UpstreamFailed, "the machinery fails too often at "+t.ID, "")
		}
	}
	s.Tasks = append(s.Tasks, f)
	return nil
}

// attempt makes one, or finds it.
func (d *draw) attempt(ctx context.Context, t mindforge.Task, seed uint64) (mindforge.Outcome, error) {
	k := expansion.Key{Pair: d.pair.Pair, Task: t.ID, Seed: seed}
	if o, have := d.kept.Get(k); have {
		return o, nil
	}
	began := time.Now()
	o, err := d.Try(ctx, d.Pair, t, seed)
	if err != nil || ctx.Err() != nil {
		return o, errors.Join(err, context.Cause(ctx))
	}
	d.made++
	fmt.Printf("%-40s %d %v %-24s %2d turns %5d + %4d tokens %6.1f s, %.1f of processor  %.100q\n", t.ID, seed, o.Pass, o.Failure, o.Cost.Turns, o.Cost.Prompt, o.Cost.Output,
		time.Since(began).Seconds(), float64(o.Cost.CPUMS)/1000, o.Answer)
	return o, d.kept.Put(k, o)
}
