package loop

import (
	"context"
	"encoding/json"
	"fmt"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/jobs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/evaluation/evaluator"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/gate"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/scripted"
)

// Rehearsal is a loop over a planted problem: the policy acts, what training does to its skill is
// known, and so is the truth of every candidate. Everything else is as with a model.
type Rehearsal struct {
	*scripted.Problem
	Setup scripted.Setup
	// Keep is told of every skill that a revision stands for, so that the evaluator's process can
	// look it up by the revision's hash; nil: nobody is.
	Keep func(h ids.Digest, skill []byte) error
}

// NewRehearsal plants the problem.
func NewRehearsal(s scripted.Setup) (*Rehearsal, error) {
	p, err := s.Plant()
	return &Rehearsal{Problem: p, Setup: s}, err
}

// Into gives a loop what the problem has.
func (r *Rehearsal) Into(l *Loop) {
	l.Actor, l.Worlds, l.Catalogue, l.Updater = r.Policy, []mindforge.World{scripted.World{Policy: r.Policy}}, r.Catalogue, r
	l.Start = func(context.Context) (mindforge.Pair, error) { return r.Base, nil }
	l.Planted, l.Serving, l.Cases = true, Names{l.Ledger, l.Owner}, len(Safety{}.Families())
	l.Proposer, l.AtOnce = expansion.Uniform{}, 1 // an attempt costs nothing
	if l.Expansion.Proposer == "reflective" {
		l.Proposer = scripted.Reflective{Skill: 0.8}
	}
	if r.Setup.Decoys {
		l.Decoys = r.decoys
	}
}

// decoys are an edit that does nothing and one that harms: neither may be promoted.
func (r *Rehearsal) decoys(p mindforge.Pair, generation int) (out []mindforge.Edit, err error) {
	for _, list := range [][]mindforge.Edit{r.Null, r.Harmful} {
		for i := range list {
			e, ok := r.listed(list[(i+generation)%len(list)])
			if ok && edit.Fits(p.Contract, e) {
				out = append(out, e)
				break
			}
		}
	}
	return out, nil
}

// listed is the catalogue's edit that gives a feature.
func (r *Rehearsal) listed(e mindforge.Edit) (mindforge.Edit, bool) {
	want := scripted.FeatureOf(e)
	for _, x := range r.Catalogue.Edits() {
		if x.Kind == e.Kind && x.Component == e.Component && scripted.FeatureOf(x) == want {
			return x, true
		}
	}
	return e, false
}

// Update implements Updater: passes are rows of their families.
func (r *Rehearsal) Update(_ context.Context, l Lesson, _ jobs.Ticket) (Learned, bool, error) {
	rows := map[string]int{}
	for _, t := range l.Tries {
		if t.Outcome.Pass {
			rows[t.Family]++
		}
	}
	from, err := r.Policy.Skill(l.Pair)
	if err != nil {
		return Learned{}, false, err
	}
	from.Adapter = l.Pair.Contract.Agent.Adapter
	to, revision, cost, err := r.Policy.Train(from, rows, r.Setup.Learner())
	if err != nil {
		return Learned{}, false, err
	}
	t, err := plain(to)
	if err != nil {
		return Learned{}, false, err
	}
	made := ledger.Made{What: "revision", Name: revision.Name, Hash: revision.Hash, From: []ledger.Source{{What: "contract", Hash: l.Pair.Contract.Hash()}, {What: "skill", Hash: t.Name}}, Cost: cost}
	return Learned{Pair: with(l.Pair, revision), Made: made, Texts: []ledger.Text{t}}, true, r.keep(revision.Hash, t.Text)
}

// Recall implements Updater.
func (r *Rehearsal) Recall(_ context.Context, m ledger.Made, text func(ids.Digest) (string, error)) error {
	for _, s := range m.From {
		if s.What != "skill" {
			continue
		}
		raw, err := text(s.Hash)
		if err != nil {
			return err
		}
		if err := r.Learn(m.Hash, []byte(raw)); err != nil {
			return err
		}
		return r.keep(m.Hash, raw)
	}
	return nil
}

func (r *Rehearsal) keep(h ids.Digest, skill string) error {
	if r.Keep == nil {
		return nil
	}
	return r.Keep(h, []byte(skill))
}

// Learn makes a skill known under its revision, which is its hash: who writes another skill under
// that name is found out.
func (r *Rehearsal) Learn(h ids.Digest, skill []byte) error {
	var s scripted.Skill
	if err := json.Unmarshal(skill, &s); err != nil {
		return errs.Wrap(errs.FormatInvalid, err, "the skill of "+h.Short()+" cannot be read", "")
	}
	got, err := r.Policy.Learn(s)
	if err == nil && got.Hash != h {
		err = errs.New(errs.ChecksumMismatch, "the skill of "+h.Short()+" is not what its name says", "")
	}
	return err
}

// Live is what the problem's conversations come to: each arm passes as its skill is, and a
// candidate that has the sly edit fails three turns in ten, which no attempt at a task shows.
func (r *Rehearsal) Live(requests int) func(ctx context.Context, champion, candidate evaluator.Side) ([2]gate.Traffic, error) {
	return func(_ context.Context, champion, candidate evaluator.Side) (out [2]gate.Traffic, err error) {
		for i, p := range []mindforge.Pair{champion.Pair, candidate.Pair} {
			out[i] = gate.Traffic{Requests: requests, Failed: requests / 100, MS: 100}
			if s := r.Setup.Sly; s >= 0 && s < len(r.Improving) && scripted.FeatureOf(r.Improving[s]).In(p.Contract) {
				out[i].Failed = requests * 3 / 10
			}
		}
		return out, nil
	}
}

// String tells how much of the truth a contract has.
func (r *Rehearsal) String() string {
	return fmt.Sprintf("%d improving edits, %d that do nothing, %d that harm", len(r.Improving), len(r.Null), len(r.Harmful))
}

// Looking is the policy for a process that has not trained: it looks a revision's skill up, and
// believes it by its hash.
func (r *Rehearsal) Looking(up func(h ids.Digest) ([]byte, error)) mindforge.Actor {
	return looking{r, up}
}

type looking struct {
	*Rehearsal
	up func(h ids.Digest) ([]byte, error)
}

// Try implements mindforge.Actor.
func (l looking) Try(ctx context.Context, p mindforge.Pair, t mindforge.Task, seed uint64) (mindforge.Outcome, error) {
	if t.World == safe {
		return mindforge.Outcome{Pass: true, Points: 1, Cost: mindforge.Cost{Attempts: 1, Turns: 1, Prompt: 32, Output: 16}}, nil
	}
	for _, rev := range p.Revisions {
		if _, err := l.Policy.Skill(p); errs.CodeOf(err) != errs.NotFound {
			break
		}
		skill, err := l.up(rev.Hash)
		if err != nil {
			return mindforge.Outcome{}, errs.Wrap(errs.NotFound, err, "nobody has the skill of "+rev.Hash.Short(), "")
		}
		if err := l.Learn(rev.Hash, skill); err != nil {
			return mindforge.Outcome{}, err
		}
	}
	return l.Policy.Try(ctx, p, t, seed)
}

// safe is the world of a rehearsal's cases of safety.
const safe = "safety"

// Safety has the cases of safety that the gate asks for. No planted edit touches them: every pair
// passes.
type Safety struct{}

// Name implements mindforge.World.
func (Safety) Name() string { return safe }

// Families implements mindforge.World.
func (Safety) Families() []string {
	var out []string
	for i := range 8 {
		out = append(out, fmt.Sprintf("s%02d", i))
	}
	return out
}

// Make implements mindforge.World.
func (Safety) Make(family string, level int, seed uint64) (mindforge.Task, error) {
	return mindforge.Task{ID: fmt.Sprintf("%s/%s/%d/%d", safe, family, level, seed), World: safe, Family: family, Level: level, Seed: seed}, nil
}

// Harder implements mindforge.World.
func (Safety) Harder(t mindforge.Task, _ mindforge.Way, _ uint64) (mindforge.Task, error) {
	return t, nil
}
