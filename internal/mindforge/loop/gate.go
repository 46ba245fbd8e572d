package loop

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/jobs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/evaluation/evaluator"
	"macaron/internal/mindforge/ledger"
)

// gate puts the generation's candidates before the evaluator, which is another process under its
// own key: decoys first, then what was proposed, one after the other. At most one is promoted.
func (w *work) gate(ctx context.Context) error {
	if w.has(w.key("gate")) {
		return nil
	}
	c, err := w.champion(ctx)
	if err != nil {
		return err
	}
	all, err := w.candidates(ctx, c)
	if err != nil {
		return err
	}
	var promoted ids.Digest
	if len(all) > 0 {
		if promoted, err = w.judged(ctx, c, all); err != nil {
			return w.outOfBudget(ctx, err)
		}
	}
	return w.note(ctx, w.key("gate"), ledger.Step{Generation: w.g, Name: "gate", State: "ended", Result: promoted, Note: itoa(len(all)) + " candidates"})
}

// judged asks the evaluator about each candidate.
func (w *work) judged(ctx context.Context, c entered, all []named) (promoted ids.Digest, err error) {
	v, err := w.verifier()
	if err != nil {
		return "", err
	}
	j, err := w.Judge(ctx, v)
	if err != nil {
		return "", err
	}
	defer func() {
		if closed := j.Close(); err == nil {
			err = closed
		}
	}()
	for i, n := range all {
		if err := w.stands(ctx, c); err != nil { // before anything of the alpha budget is spent
			return "", err
		}
		g := &gater{w, j, c, n, i * len(evaluation.Stages), len(all) * len(evaluation.Stages)}
		passed, err := g.through(ctx)
		if err != nil {
			return "", err
		}
		if passed {
			return n.hash, nil
		}
	}
	return "", nil
}

// verifier is one that knows how far the evaluator's answers have come: an evaluator whose account
// was put back is found out.
func (w *work) verifier() (evaluator.Verifier, error) {
	v := w.Verifier
	for _, b := range w.bodies {
		if d, ok := b.(ledger.Decision); ok {
			s, err := v.Read([]byte(d.Envelope))
			if err == nil && s.Decision != d.Decision {
				err = errs.New(errs.ChecksumMismatch, "the ledger has another decision than the evaluator signed", "restore the database from a backup; nothing behind it can be relied upon")
			}
			if err != nil {
				return v, err
			}
			v.Last = max(v.Last, s.Sequence)
		}
	}
	return v, nil
}

// named is a candidate, as its keys name it.
type named struct {
	entered
	name string
}

// candidates are what goes before the evaluator.
func (w *work) candidates(ctx context.Context, c entered) (all []named, err error) {
	if w.Arm == None {
		return nil, nil
	}
	if w.Decoys != nil {
		if all, err = w.decoys(ctx, c); err != nil {
			return nil, err
		}
	}
	p, err := w.proposed(ctx)
	return append(all, p...), err
}

func (w *work) decoys(ctx context.Context, c entered) (all []named, err error) {
	edits, err := w.Decoys(c.Pair, w.g)
	if err != nil {
		return nil, err
	}
	for i, e := range edits {
		k, err := edit.Apply(c.Pair.Contract, e)
		if err != nil {
			continue // the champion has it
		}
		key := w.key("decoy/%d", i)
		record := mindforge.Candidate{Contract: k.Hash(), Revisions: c.Pair.Revisions, Parents: parents(c), Operator: mindforge.Mutate, Edits: []mindforge.Edit{e}, Proposer: "decoy", Generation: w.g}
		if _, err := w.candidate(ctx, key, record, k); err != nil {
			return nil, err
		}
		d, err := w.pair(ctx, key)
		if err != nil {
			return nil, err
		}
		all = append(all, named{d, fmt.Sprintf("decoy/%d", i)})
	}
	return all, nil
}

// gater takes one candidate through the stages.
type gater struct {
	*work
	judge       Judge
	champion    entered
	it          named
	done, total int
}

// through reports whether the candidate became the champion.
func (g *gater) through(ctx context.Context) (bool, error) {
	for _, s := range evaluation.Stages {
		if err := g.ticket.Step(ctx, g.before(s), g.total, fmt.Sprintf("gate: %s %s", g.it.name, s)); err != nil {
			return false, err
		}
		passed, err := g.pass(ctx, s)
		if err != nil || !passed {
			return false, err
		}
		if _, spent := g.budget(mindforge.Cost{}); spent && s != mindforge.Champion {
			return false, errBudget
		}
	}
	return true, nil
}

// before counts the stages that lie behind one, those of earlier candidates too.
func (g *gater) before(s mindforge.Stage) int { return g.done + slices.Index(evaluation.Stages, s) }

// pass asks for one stage, and does what belongs to it.
func (g *gater) pass(ctx context.Context, s mindforge.Stage) (bool, error) {
	var release ids.Digest
	var err error
	if s == mindforge.Canary || s == mindforge.Champion {
		if release, err = g.Serving.Enter(ctx, g.Run, g.it.Pair); err != nil {
			return false, err
		}
	}
	d, known := g.bodies[g.decision(s)].(ledger.Decision)
	switch {
	case known:
	case s == mindforge.Canary:
		d, err = g.trial(ctx, release)
	default:
		d, err = g.ask(ctx, s)
	}
	if err != nil {
		return false, err
	}
	switch {
	case s == mindforge.Canary && !d.Decision.Pass:
		return false, g.Serving.Back(ctx, g.Run, release, d.Decision.Why)
	case s == mindforge.Champion && d.Decision.Pass:
		return true, g.promote(ctx, release)
	}
	return d.Decision.Pass, nil
}

func (g *gater) decision(s mindforge.Stage) string { return g.key("gate/%s/%s", g.it.name, s) }

// ask asks the evaluator, and keeps what it signed.
func (g *gater) ask(ctx context.Context, s mindforge.Stage) (ledger.Decision, error) {
	champion, err := arm(g.champion)
	if err != nil {
		return ledger.Decision{}, err
	}
	candidate, err := arm(g.it.entered)
	if err != nil {
		return ledger.Decision{}, err
	}
	approvals, err := g.approvals(ctx)
	if err != nil {
		return ledger.Decision{}, err
	}
	r, err := g.judge.Decide(ctx, s, champion, candidate, approvals...)
	if err != nil {
		return ledger.Decision{}, err
	}
	g.point("decided/" + string(s))
	d := ledger.Decision{Decision: r.Decision, Envelope: string(r.Envelope)}
	if s == mindforge.Approval && !r.Pass {
		return d, g.wait(ctx, r.Why, len(approvals))
	}
	return d, g.note(ctx, g.decision(s), d)
}

func arm(e entered) (evaluator.Arm, error) {
	text, err := e.Pair.Contract.Text()
	return evaluator.Arm{Candidate: e.Record, Contract: text}, err
}

// wait stops the run until a person has said something. What it waits for is no step of the
// ledger: a run that nobody let wait comes to the same. It is said before the run stops: a
// process that is killed between the two would leave a run that waits, and tells nobody for what.
func (g *gater) wait(ctx context.Context, why string, heard int) error {
	if err := g.ticket.Step(ctx, g.before(mindforge.Approval), g.total, Waits(Wanted{g.it.hash, g.champion.hash, g.Evaluation.Digest, why})); err != nil {
		return err
	}
	g.point("waits/" + g.it.name)
	if err := g.Queue.Pause(ctx, g.Run); err != nil {
		return err
	}
	now, err := g.said(ctx)
	if err == nil && now > heard { // between the two: it let go on what was not stopped yet
		err = g.Queue.Resume(ctx, g.Run)
	}
	return cmp.Or(err, jobs.ErrPaused)
}

// said counts the approvals of the candidate that the ledger has by now.
func (g *gater) said(ctx context.Context) (n int, err error) {
	all, err := g.Ledger.All(ctx, g.Owner, g.Run)
	for _, e := range all {
		if strings.HasPrefix(e.Key, approvalKey(g.it.hash, "")) {
			n++
		}
	}
	return n, err
}

// approvalKey is where a person's yes is kept; by names the key.
func approvalKey(candidate ids.Digest, by string) string {
	return "approval/" + candidate.Hex() + "/" + by
}

// approvals are those that people gave for the candidate.
func (g *gater) approvals(ctx context.Context) (all [][]byte, err error) {
	var keys []string
	for key, b := range g.bodies {
		if m, ok := b.(ledger.Made); ok && m.What == "approval" && m.Name == g.it.hash.Hex() {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		text, err := g.text(ctx, ledger.PlainText, g.bodies[key].(ledger.Made).Hash)
		if err != nil {
			return nil, err
		}
		all = append(all, []byte(text))
	}
	return all, nil
}

// Approve keeps a person's yes, for the run to go on with. by names the key.
func Approve(ctx context.Context, l *ledger.Ledger, owner, run string, w Wanted, by string, envelope []byte) error {
	if w.Candidate == "" {
		return errs.New(errs.NotFound, "the run "+run+" waits for nobody", "`macaron forge status` tells where it is")
	}
	t := ledger.Plain(string(envelope))
	_, err := l.Write(ctx, owner, []ledger.Text{t}, nil, ledger.Draft{Run: run, Key: approvalKey(w.Candidate, by),
		Body: ledger.Made{What: "approval", Name: w.Candidate.Hex(), Hash: t.Name}})
	return err
}
