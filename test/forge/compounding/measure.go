package main

import (
	"context"
	"errors"
	"os"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/stat"
	"macaron/test/forge/rig"
)

// item is a sealed task, and whether it was passed.
type item struct {
	Task    string            `json:"task"`
	Family  string            `json:"family"`
	Pass    bool              `json:"pass"`
	Failure mindforge.Failure `json:"failure,omitempty"`
}

// measurer tries pairs at the sealed suite.
type measurer struct {
	*rig.Rig
	tasks []mindforge.Task
	kept  *rig.Kept
}

// measurer opens a copy of the loop's home, as it is when the loop has ended: no run of a sealed
// task ever stands in the loop's log.
func (l lab) measurer(ctx context.Context, s site) (*measurer, error) {
	home := s.path("measured")
	if _, err := os.Stat(home); errors.Is(err, os.ErrNotExist) {
		if err := s.copied(home); err != nil {
			return nil, err
		}
	}
	r, err := rig.At(ctx, s.path("start.toml"), home)
	if err != nil {
		return nil, err
	}
	m := &measurer{Rig: r}
	if err := m.open(l, s); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return m, nil
}

// copied copies the home under another name first, so that a kill leaves no half of it.
func (s site) copied(home string) error {
	half := home + ".half"
	if err := os.RemoveAll(half); err != nil {
		return err
	}
	if _, err := os.Stat(s.path("home")); errors.Is(err, os.ErrNotExist) {
		return os.Mkdir(home, 0o700) // no loop has run
	}
	if err := os.CopyFS(half, os.DirFS(s.path("home"))); err != nil {
		return err
	}
	if err := os.Chmod(half, 0o700); err != nil {
		return err
	}
	return os.Rename(half, home)
}

func (m *measurer) open(l lab, s site) error {
	declared, err := rig.Declared(l.base, agent)
	if err != nil {
		return err
	}
	start, err := contract.Parse(declared)
	if err != nil {
		return err
	}
	e, err := s.rules()
	if err != nil {
		return err
	}
	m.Hashes.Contract = start.Hash()
	if m.Hashes.Evaluation, err = e.Hash(); err != nil {
		return err
	}
	suite, err := l.sealed(m.Hashes, e.Splits)
	if err != nil {
		return err
	}
	m.Hashes = suite.Hashes
	if m.tasks, err = suite.items(); err != nil {
		return err
	}
	m.kept, err = rig.OpenKept(s.path("sealed.jsonl"), m.Hashes)
	return err
}

// rules are the site's evaluation contract but for its people, who are others in each directory.
func (s site) rules() (*evaluation.Contract, error) {
	text, err := evaluation.Read(s.path("evaluation.toml"))
	if err != nil {
		return nil, err
	}
	e, err := evaluation.Parse(text)
	if err == nil {
		e.Approval.Keys = nil
	}
	return e, err
}

func (m *measurer) close() error { return errors.Join(m.kept.Close(), m.Close()) }

// reruns is how often an attempt is made again in which the machinery failed.
const reruns = 3

// try makes the attempts of a pair at all sealed tasks. Pairs are compared at equal seeds; another
// draw is of other ones.
func (m *measurer) try(ctx context.Context, p mindforge.Pair, draw uint64) (out []item, err error) {
	h, err := expansion.PairHash(p)
	if err != nil {
		return nil, err
	}
	for _, t := range m.tasks {
		var o mindforge.Outcome
		for n := range uint64(reruns) {
			if o, err = m.attempt(ctx, expansion.Key{Pair: h, Task: t.ID, Seed: 1 + n + reruns*draw}, p, t); err != nil {
				return nil, err
			}
			if o.Failure != mindforge.Infrastructure {
				break
			}
		}
		if o.Failure == mindforge.Infrastructure {
			return nil, errs.New(errs.UpstreamFailed, "the machinery fails at "+t.ID, "")
		}
		out = append(out, item{t.ID, t.World + "/" + t.Family, o.Pass && o.Failure == "", o.Failure})
	}
	return out, nil
}

// attempt makes one, or finds it.
func (m *measurer) attempt(ctx context.Context, k expansion.Key, p mindforge.Pair, t mindforge.Task) (mindforge.Outcome, error) {
	if o, have := m.kept.Get(k); have {
		return o, nil
	}
	o, err := m.Try(ctx, p, t, k.Seed)
	if err != nil || ctx.Err() != nil {
		return o, errors.Join(err, context.Cause(ctx))
	}
	return o, m.kept.Put(k, o)
}

func values(items []item) (out []stat.Value) {
	for _, i := range items {
		y := 0.0
		if i.Pass {
			y = 1
		}
		out = append(out, stat.Value{Cluster: i.Family, Y: y})
	}
	return out
}

func score(items []item) stat.Estimate { return stat.Mean(values(items), 0, 1) }

// gain is the difference of two measurements of the same tasks.
func gain(from, to []item) stat.Estimate {
	a, b := values(from), values(to)
	for i := range b {
		b[i].Y -= a[i].Y
	}
	return stat.Mean(b, -1, 1)
}
