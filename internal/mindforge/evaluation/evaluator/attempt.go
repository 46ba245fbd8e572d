package evaluator

import (
	"context"
	"fmt"

	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/batch"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/gate"
)

// measured is evidence with what it cost.
type measured struct {
	gate.Evidence
	cost mindforge.Cost
}

// evidence gathers what a stage's verdict rests on.
func (e *Evaluator) evidence(ctx context.Context, j *job) (measured, error) {
	m := measured{Evidence: gate.Evidence{Test: j.test}}
	var err error
	switch j.stage {
	case mindforge.Lint:
		var tasks []mindforge.Task
		if tasks, err = e.watched(j); err == nil {
			m.Findings, err = e.lint(j, tasks)
		}
		return m, err
	case mindforge.Approval:
		if m.Changes, err = permissions(j); err == nil {
			m.Approvals, err = e.approvals(j)
		}
		return m, err
	case mindforge.Canary:
		if j.s.Gates.Canary.Requests == 0 {
			return m, nil
		}
		if e.Traffic == nil {
			return m, errs.New(errs.Unsupported, "this evaluator sees no live traffic", "start it beside a server that serves the candidate")
		}
		m.Traffic, err = e.Traffic(ctx, Side{j.champion.name, j.champion.Pair}, Side{j.candidate.name, j.candidate.Pair})
		if err == nil {
			err = waiting(m.Traffic, j.s.Gates.Canary.Requests)
		}
		return m, err
	}
	return m, e.attempts(ctx, j, &m)
}

// Waiting says that a trial has not come far enough to be judged.
type Waiting struct {
	Turns int `json:"turns"` // of the arm that has fewer
	Of    int `json:"of"`
}

// Error implements error.
func (w *Waiting) Error() string {
	return fmt.Sprintf("the trial has come to %d of %d live turns of each arm", w.Turns, w.Of)
}

func waiting(t [2]gate.Traffic, of int) error {
	if least := min(t[0].Requests, t[1].Requests); least < of && t[1].Ended == "" {
		return &Waiting{least, of}
	}
	return nil
}

// watched are the tasks whose texts a contract may not tell anything of: those of validation,
// and those that this pair's sealed test would have.
func (e *Evaluator) watched(j *job) ([]mindforge.Task, error) {
	var out []mindforge.Task
	for _, p := range []plan{
		{evaluation.Validation, "validation", j.s.Suites, false},
		{evaluation.Sealed, sealedPurpose(e.account.count[j.evaluation] + 1), j.s.Suites, false},
	} {
		for _, s := range p.suites {
			tasks, err := e.tasks(j.s.Contract, s, p.split, s.Items, p.purpose)
			if err != nil {
				return nil, err
			}
			out = append(out, tasks...)
		}
	}
	return out, nil
}

// attempts runs the suites of a stage, and the cases of safety.
func (e *Evaluator) attempts(ctx context.Context, j *job, m *measured) error {
	p := j.plan()
	for _, s := range p.suites {
		tasks, err := e.tasks(j.s.Contract, s, p.split, s.Items, p.purpose)
		if err != nil {
			return err
		}
		items, err := e.both(ctx, j, m, s, tasks)
		if err != nil {
			return err
		}
		m.Slices = append(m.Slices, gate.Slice{Suite: s, Items: items})
	}
	if !p.safety || e.Safety == nil {
		return nil
	}
	tasks, err := e.cases(j.s.Safety.Cases, p.purpose)
	if err != nil {
		return err
	}
	m.Safety, err = e.both(ctx, j, m, evaluation.Suite{Name: "safety", Repeats: j.s.Safety.Repeats}, tasks)
	return err
}

// both runs tasks under both arms, interleaved, which goes first in turn, with equal seeds.
func (e *Evaluator) both(ctx context.Context, j *job, m *measured, s evaluation.Suite, tasks []mindforge.Task) ([]gate.Item, error) {
	champion, candidate, err := e.acting(j, s.Specialist)
	if err != nil {
		return nil, err
	}
	out := make([]gate.Item, len(tasks))
	type paired struct {
		a, b mindforge.Outcome
		cost mindforge.Cost
	}
	all := make([]paired, len(tasks)*s.Repeats)
	err = batch.Do(ctx, len(all), e.AtOnce, func(ctx context.Context, i int) (err error) {
		n, r, p := i/s.Repeats, i%s.Repeats, &all[i]
		p.a, p.b, p.cost, err = e.once(ctx, champion, candidate, tasks[n], e.number("attempt", tasks[n].ID, r), (n+r)%2 == 1, j.s.Limits.Reruns)
		return err
	}, func(i int) error {
		o, p := &out[i/s.Repeats], all[i]
		o.Champion, o.Candidate, m.cost = append(o.Champion, p.a), append(o.Candidate, p.b), m.cost.Plus(p.cost)
		e.Point("attempt")
		return nil
	})
	for n, t := range tasks {
		out[n].Task, out[n].Family = t.ID, t.World+"/"+t.Family
	}
	return out, err
}

func (e *Evaluator) acting(j *job, label string) (mindforge.Pair, mindforge.Pair, error) {
	if label == "" {
		return j.champion.Pair, j.candidate.Pair, nil
	}
	if e.Acting == nil {
		return mindforge.Pair{}, mindforge.Pair{}, errs.New(errs.Unsupported, "this evaluator has no suites of specialists", "leave specialist empty in the evaluation contract")
	}
	a, err := e.Acting(j.champion.Pair, label)
	if err != nil {
		return a, a, err
	}
	b, err := e.Acting(j.candidate.Pair, label)
	return a, b, err
}

// once makes an attempt of both arms. Where the machinery failed in one, both are made again.
func (e *Evaluator) once(ctx context.Context, champion, candidate mindforge.Pair, t mindforge.Task, seed uint64, swap bool, reruns int) (a, b mindforge.Outcome, cost mindforge.Cost, err error) {
	for try := 0; ; try++ {
		if swap {
			b, err = e.Actor.Try(ctx, candidate, t, seed)
		}
		if err == nil {
			a, err = e.Actor.Try(ctx, champion, t, seed)
		}
		if err == nil && !swap {
			b, err = e.Actor.Try(ctx, candidate, t, seed)
		}
		if ctx.Err() != nil {
			return a, b, cost, errs.Wrap(errs.Canceled, context.Cause(ctx), "the evaluator was stopped in an attempt", "ask again: it goes on under the same number")
		}
		cost = cost.Plus(a.Cost).Plus(b.Cost)
		if err == nil && a.Failure != mindforge.Infrastructure && b.Failure != mindforge.Infrastructure {
			return a, b, cost, nil
		}
		if try == reruns {
			return a, b, cost, errs.Wrap(errs.UpstreamFailed, failed(err), "the machinery failed in an attempt, and again", "mend it and ask for the stage again: nothing is decided")
		}
		a, b, err = mindforge.Outcome{}, mindforge.Outcome{}, nil
	}
}

func failed(err error) error {
	if err == nil {
		return errs.New(errs.UpstreamFailed, "an attempt has no outcome", "")
	}
	return err
}
