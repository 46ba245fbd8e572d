package evaluator

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"regexp"

	"macaron/internal/canonical"
	"macaron/internal/contract"
	"macaron/internal/contract/sign"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/gate"
	"macaron/internal/mindforge/stat"
)

var nonce = regexp.MustCompile(`^[0-9a-f]{32}$`)

// job is a question that may be answered.
type job struct {
	s                   evaluation.Signed
	q                   Ask
	champion, candidate arm
	look
	changes []contract.Change
	test    int // of a sealed one
}

// open reads a question and refuses what is out of its turn.
func (e *Evaluator) open(s evaluation.Signed, q Ask) (*job, error) {
	if !nonce.MatchString(q.Nonce) || e.account.nonces[q.Nonce] {
		return nil, errs.New(errs.InvalidRequest, "the nonce is not 32 hex digits, or was used before", "draw a new one for each question").In("nonce")
	}
	j := &job{s: s, q: q}
	var err error
	if j.champion, err = q.Champion.read(); err != nil {
		return nil, err
	}
	if j.candidate, err = q.Candidate.read(); err != nil {
		return nil, err
	}
	if j.changes, err = contract.Diff(j.champion.Contract, j.candidate.Contract); err != nil {
		return nil, err
	}
	pair, err := pairKey(j.champion.Pair, j.candidate.Pair)
	j.look = look{s.Digest, pair, q.Stage}
	if err != nil {
		return nil, err
	}
	return j, e.turn(j)
}

// pairKey names two arms by what they are. Another proposer, parent or prediction is not
// another pair, and gets no further look.
func pairKey(champion, candidate mindforge.Pair) (ids.Digest, error) {
	type side struct {
		Contract  ids.Digest   `json:"contract"`
		Revisions []ids.Digest `json:"revisions"`
	}
	of := func(p mindforge.Pair) side {
		s := side{Contract: p.Contract.Hash()}
		for _, r := range p.Revisions {
			s.Revisions = append(s.Revisions, r.Hash)
		}
		return s
	}
	return canonical.Hash([]side{of(champion), of(candidate)})
}

// turn refuses a stage before the one in front of it is passed.
func (e *Evaluator) turn(j *job) error {
	for i, s := range evaluation.Stages {
		if s != j.stage {
			continue
		}
		if i == 0 || e.account.past[look{j.evaluation, j.pair, evaluation.Stages[i-1]}].Pass {
			return nil
		}
		return errs.New(errs.Forbidden, fmt.Sprintf("%s comes before %s, and this pair has not passed it", evaluation.Stages[i-1], s), "ask for the stages in their order")
	}
	return errs.New(errs.InvalidRequest, "there is no stage "+errs.Clip(string(j.stage)), fmt.Sprintf("the stages are %v", evaluation.Stages)).In("stage")
}

// settle gives the decision: the one of the account, if the pair had its look. Approval and
// canary may be asked for again, since what they wait for comes later.
func (e *Evaluator) settle(ctx context.Context, j *job) (mindforge.Decision, error) {
	if d, ok := e.account.past[j.look]; ok && (d.Pass || j.stage != mindforge.Approval && j.stage != mindforge.Canary) {
		d.Candidate, d.Against = j.candidate.name, j.champion.name
		return d, nil
	}
	if err := e.spend(j); err != nil {
		return mindforge.Decision{}, err
	}
	ev, err := e.evidence(ctx, j)
	if err == nil {
		var v gate.Verdict
		if v, err = gate.Decide(j.s.Contract, j.stage, ev.Evidence); err == nil {
			return e.record(j, v, ev.cost)
		}
	}
	if j.stage == mindforge.Sealed && ctx.Err() == nil {
		return mindforge.Decision{}, errs.New(errs.CodeOf(err), "the sealed test could not be finished", "ask again: it goes on under its number and alpha; the evaluator's owner can see why")
	}
	return mindforge.Decision{}, err
}

// spend makes a sealed test's number and alpha durable before anything is drawn. A test that
// was begun keeps its number: a kill gives no second look, and takes none away.
func (e *Evaluator) spend(j *job) error {
	if j.stage != mindforge.Sealed {
		return nil
	}
	if j.test = e.account.tests[j.look]; j.test > 0 {
		return nil
	}
	j.test = e.account.count[j.evaluation] + 1
	if j.test > j.s.Alpha.Tests {
		return errs.New(errs.BudgetSpent, fmt.Sprintf("all %d sealed tests of the evaluation contract are spent", j.s.Alpha.Tests), "sign a new version of it, with a salt of its own")
	}
	err := e.account.append(entry{Kind: asked, Evaluation: j.evaluation, Pair: j.pair, Stage: j.stage, Test: j.test, Alpha: stat.Spend(j.s.Alpha.Budget, j.test)})
	e.Point("asked")
	return err
}

// record writes the decision down. Of the sealed test, reasons and costs stay here.
func (e *Evaluator) record(j *job, v gate.Verdict, cost mindforge.Cost) (mindforge.Decision, error) {
	d := mindforge.Decision{Candidate: j.candidate.name, Against: j.champion.name, Stage: j.stage, Pass: v.Pass, Why: v.Text(), Evaluation: j.evaluation, Spent: v.Alpha, Cost: cost}
	line := entry{Kind: decided, Evaluation: j.evaluation, Pair: j.pair, Stage: j.stage, Decision: &d}
	if j.stage == mindforge.Sealed {
		line.Why, line.Cost = d.Why, &cost
		d.Count, d.Cost, d.Why = j.test, mindforge.Cost{Attempts: cost.Attempts}, "not passed"
		if v.Pass {
			d.Why = "passed"
		}
	}
	e.Point("judged")
	err := e.account.append(line)
	e.Point("decided")
	return d, err
}

// lint looks at every text that differs from the champion's, in whatever way it came there.
func (e *Evaluator) lint(j *job, tasks []mindforge.Task) ([]string, error) {
	g, err := edit.NewGuard(e.Catalogue, tasks)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range j.changes {
		if len(c.Now) > j.s.Hacking.Texts {
			out = append(out, fmt.Sprintf("%s has %d bytes, %d may", errs.Clip(c.Path), len(c.Now), j.s.Hacking.Texts))
			continue
		}
		for _, f := range g.Tells(c.Path + "\n" + plain(c.Now)) {
			if f.Refuses() {
				out = append(out, fmt.Sprintf("%s: %s", errs.Clip(c.Path), f.Rule))
			}
		}
	}
	return out, nil
}

// permissions says what a person has to allow.
func permissions(j *job) (gate.Changes, error) {
	t, err := edit.Touches(j.champion.Contract, j.candidate.Contract)
	out := gate.Changes{Any: len(j.changes) > 0}
	if t.Permission {
		out.Permissions = t.Why
	}
	if t.Cost {
		out.Budgets = []string{"budgets are raised or lowered"}
	}
	return out, err
}

// ApprovalType names what a person signs: the canonical form of an Approve.
const ApprovalType = "application/vnd.macaron.evaluation.approval.v1+json"

// Approve is a person's yes to a candidate in place of a champion.
type Approve struct {
	Candidate  ids.Digest `json:"candidate"`
	Against    ids.Digest `json:"against"`
	Evaluation ids.Digest `json:"evaluation"`
}

// Yes signs an approval.
func (a Approve) Yes(key ed25519.PrivateKey) ([]byte, error) {
	payload, err := canonical.Bytes(a)
	if err != nil {
		return nil, err
	}
	return sign.Seal(ApprovalType, payload, key, nil)
}

// approvals lists the keys of people whose yes is to exactly this pair.
func (e *Evaluator) approvals(j *job) ([]string, error) {
	want, err := canonical.Bytes(Approve{j.candidate.name, j.champion.name, j.evaluation})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, envelope := range j.q.Approvals {
		env, good, err := sign.Unseal(ApprovalType, envelope, e.people)
		if err == nil && string(env.Payload) == string(want) {
			out = append(out, good...)
		}
	}
	return out, nil
}
