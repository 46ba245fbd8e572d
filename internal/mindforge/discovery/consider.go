package discovery

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/stat"
)

// Discoverer takes candidates, one after the other, onto a shelf.
type Discoverer struct {
	*Shelf
	Actor  mindforge.Actor
	Pair   mindforge.Pair
	Sealed Sealed
	Split  Splits
	Seed   uint64 // of the attempts
	// Planted: tasks are names without content, whose solve rates alone are known. Nothing of them
	// is read, compared or played.
	Planted bool
}

// Consider looks at a candidate. It is kept (a record), or refused; an error says that
// nothing is known of it.
func (d *Discoverer) Consider(ctx context.Context, c Candidate) (*Record, *Refusal, error) {
	r, no, err := d.consider(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if no != nil {
		no.ID, no.Source = c.Task.ID, c.Source
		return nil, d.Refuse(*no), nil
	}
	d.put(*r)
	return r, nil, nil
}

// Refuse counts what was refused before it was a candidate.
func (s *Shelf) Refuse(no Refusal) *Refusal {
	s.refused[no.Reason]++
	return &no
}

func (d *Discoverer) consider(ctx context.Context, c Candidate) (*Record, *Refusal, error) {
	if no := d.set.formed(c); no != nil && !d.Planted {
		return nil, no, nil
	}
	r, no, err := d.admitted(ctx, c)
	if err != nil || no != nil {
		return nil, no, err
	}
	if !d.Planted {
		if no, err := d.set.sound(ctx, c); err != nil || no != nil {
			return nil, no, err
		}
	}
	no, err = d.measured(ctx, c.Task, r)
	return r, no, err
}

// admitted asks what needs no play: split, sealed words, novelty, diversity.
func (d *Discoverer) admitted(ctx context.Context, c Candidate) (*Record, *Refusal, error) {
	t := c.Task
	split := d.Split(t.World, t.Family)
	if !slices.Contains(d.set.Splits, split) {
		return nil, no(Unsplit, "its family is not in %v", d.set.Splits), nil
	}
	has, err := d.Sealed.Has(ctx, question(t))
	if err != nil || has {
		return nil, no(Tainted, ""), err
	}
	structure, err := d.structure(t)
	if err != nil {
		return nil, nil, err
	}
	likeness, refusal := d.novel(t, structure)
	if d.Planted {
		refusal = nil
	}
	if refusal == nil {
		refusal = d.monotone(family(t), structure)
	}
	return &Record{Schema: Schema, Task: t, Source: c.Source, Split: split, Pair: d.Pair.Contract.Hash(), Structure: structure, Verifier: ids.DigestOf(t.Judged.Spec), Spec: t.Judged.Spec,
		Solution: t.Judged.Solution, Failing: t.Judged.Failing, Likeness: likeness}, refusal, nil
}

// structure of a task; of names without content each is its own.
func (d *Discoverer) structure(t mindforge.Task) (ids.Digest, error) {
	if d.Planted {
		return ids.DigestOf([]byte(t.ID)), nil
	}
	return Structure(t)
}

func question(t mindforge.Task) Question {
	q := Question{World: t.World, Family: t.Family, Seed: t.Seed, Canary: t.Canary, Texts: []string{t.Instruction, t.Judged.Solution.Answer}}
	for _, c := range t.Judged.Solution.Calls {
		for _, name := range sortedKeys(c.Args) {
			q.Texts = append(q.Texts, c.Args[name])
		}
	}
	return q
}

// Ahead is an actor that is told which attempts it will be asked for, and may make them at once.
type Ahead interface {
	Ahead(ctx context.Context, p mindforge.Pair, t mindforge.Task, seeds []uint64) error
}

// measured has the pair try, and says what the task is good for. Attempts that the machinery
// spoiled are made again, as often as there are attempts.
func (d *Discoverer) measured(ctx context.Context, t mindforge.Task, r *Record) (*Refusal, error) {
	passes, n := 0, 0
	if a, ok := d.Actor.(Ahead); ok {
		seeds := make([]uint64, d.set.Attempts)
		for try := range seeds {
			seeds[try] = attemptSeed(t.ID, d.Seed, try)
		}
		if err := a.Ahead(ctx, d.Pair, t, seeds); err != nil {
			return nil, err
		}
	}
	for try := 0; n < d.set.Attempts && try < 2*d.set.Attempts; try++ {
		o, err := d.Actor.Try(ctx, d.Pair, t, attemptSeed(t.ID, d.Seed, try))
		if err != nil {
			return nil, err
		}
		if r.Cost = r.Cost.Plus(o.Cost); o.Failure == mindforge.Infrastructure {
			continue
		}
		if n++; o.Pass {
			passes++
		}
	}
	r.Solved = stat.NewRate(passes, n)
	switch rate := r.Solved.Value(); {
	case n < d.set.Attempts:
		return no(Unmeasured, "%d of %d attempts counted", n, d.set.Attempts), nil
	case passes == 0 && d.set.MostFailing > 0 && d.failing >= d.set.MostFailing:
		return r.outside(Unsolved), nil
	case passes == 0:
		r.Class = Failing
	case rate < d.set.Low:
		return r.outside(TooHard), nil
	case rate > d.set.High:
		return r.outside(TooEasy), nil
	default:
		r.Class = Frontier
	}
	return nil, nil
}

func (r *Record) outside(reason Reason) *Refusal {
	out := no(reason, "solved %d of %d times", r.Solved.K, r.Solved.N)
	out.Solved = &r.Solved
	return out
}

// attemptSeed depends on nothing but the task and the attempt: a search that is resumed
// makes the same attempts.
func attemptSeed(id string, seed uint64, try int) uint64 {
	h := ids.DigestOf(fmt.Appendf(nil, "attempt\x00%s\x00%d\x00%d", id, seed, try)).Hex()
	return binary.BigEndian.Uint64([]byte(h)[:8])
}

// Told is what is known after a search.
type Told struct {
	Kept      int            `json:"kept"`
	Classes   map[Class]int  `json:"classes"`
	Splits    map[string]int `json:"splits"`
	Sources   map[Kind]int   `json:"sources"`
	Refused   map[Reason]int `json:"refused"`
	Diversity Diversity      `json:"diversity"`
	Cost      mindforge.Cost `json:"cost"` // of the attempts at what was kept
}

// Report tells what was kept and why the rest was not.
func (s *Shelf) Report() Told {
	out := Told{Kept: len(s.kept), Classes: map[Class]int{}, Splits: map[string]int{}, Sources: s.sources, Refused: s.refused, Diversity: s.Diversity()}
	for _, r := range s.kept {
		out.Classes[r.Class]++
		out.Splits[r.Split]++
		out.Cost = out.Cost.Plus(r.Cost)
	}
	return out
}
