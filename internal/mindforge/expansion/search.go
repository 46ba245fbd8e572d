package expansion

import (
	"context"
	"math/rand/v2"
	"slices"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
)

// Settings are what a search follows from, beside its tasks and the outcomes.
type Settings struct {
	Seed       uint64
	Attempts   int     // that it may make in all
	Minibatch  int     // tasks on which child and parent are compared first; 0: 4
	Generation int     // of the loop
	Free       bool    // the proposer may write texts where the catalogue lets one
	Greedy     float64 // share of parents that are the best so far, rather than drawn from the frontier
	MaxEdits   int     // that a contract which is made anew has, at most; 0: 16
	Rates      Rates   // of operators; zero: DefaultRates
	AtOnce     int     // attempts that are made at once, where none waits for what came of another; what comes of them is the same
}

// Rates are how often each operator is tried, in any unit.
type Rates struct{ Reflect, Mutate, Merge, Ablate, Restart float64 }

// DefaultRates lean on evidence.
var DefaultRates = Rates{Reflect: 1, Mutate: 0.5, Merge: 0.25, Ablate: 0.25, Restart: 8}

// Search looks for one contract for all tasks. Train is what proposers see attempts of; a
// child that beats its parent there is measured on Valid, of which nobody sees more than
// numbers. Both are the loop's own: what is claimed of the result is measured elsewhere.
type Search struct {
	Settings
	Actor     mindforge.Actor
	Catalogue *edit.Catalogue
	Guard     *edit.Guard // nil: one that knows the search's own tasks
	Proposer  Proposer
	Base      mindforge.Pair
	Train     []mindforge.Task
	Valid     []mindforge.Task
	Cache     Cache            // nil: one of its own
	Past      []Step           // of the same search, cut short: its proposals are not asked for again
	Told      func(Step) error // is handed each step once it is done; nil: nobody is

	eval   *evaluator
	matrix Matrix
	pool   []*member // that came to validation, the base first
	known  map[ids.Digest]bool
	traces map[ids.Digest][]Trace
	belief *surrogate
	fit    *fitter
	steps  []Step
}

// Step is one try at a better contract, as the ledger keeps it.
type Step struct {
	N         int                 `json:"n"`
	Candidate mindforge.Candidate `json:"candidate"`
	Name      ids.Digest          `json:"name"` // of the candidate
	Proposal  Proposal            `json:"proposal"`
	Lint      []edit.Finding      `json:"lint,omitempty"`
	Stopped   string              `json:"stopped,omitempty"` // why it went no further; "": it is measured on validation
	Items     []string            `json:"items,omitempty"`   // of the minibatch
	Parent    float64             `json:"parent"`            // points of it
	Child     float64             `json:"child"`
	Up        []string            `json:"up,omitempty"` // families that did better than the parent's, on validation
	Down      []string            `json:"down,omitempty"`
	Gain      float64             `json:"gain"` // of the mean on validation
	Mean      float64             `json:"mean"` // on validation
	Tuning    bool                `json:"tuning,omitempty"`
	Shrunk    bool                `json:"shrunk,omitempty"`
	Spent     mindforge.Cost      `json:"spent"` // by the search so far
}

// Result is where a search came to.
type Result struct {
	Best      mindforge.Pair
	Name      ids.Digest // of its candidate
	Edits     []mindforge.Edit
	Agreed    mindforge.Pair // what all attempts together speak for
	Chosen    float64        // its mean on validation, by which it came into the final: too good by the choice
	Replayed  float64        // its mean on fresh seeds of the same tasks
	Steps     []Step
	Spent     mindforge.Cost
	Found     int // attempts that the cache had
	Predicted Calibration
}

// Run searches until the attempts are spent, the catalogue has no more, or ctx ends.
func (s *Search) Run(ctx context.Context) (Result, error) {
	if err := s.begin(ctx); err != nil {
		return Result{}, err
	}
	idle := 0
	for n := 0; s.eval.spent.Attempts < s.Attempts-s.reserve() && idle < maxIdle; n++ {
		if ctx.Err() != nil {
			return Result{}, errs.Wrap(errs.Canceled, context.Cause(ctx), "the search was stopped", "it goes on from its steps")
		}
		before := s.eval.spent.Attempts
		step, err := s.step(ctx, n)
		if err != nil {
			return Result{}, err
		}
		if err := s.tell(step); err != nil {
			return Result{}, err
		}
		if idle++; s.eval.spent.Attempts > before {
			idle = 0
		}
	}
	return s.conclude(ctx)
}

// maxIdle is how many steps may come to no attempt before the catalogue counts as used up.
const maxIdle = 200

func (s *Search) begin(ctx context.Context) error {
	if s.Minibatch == 0 {
		s.Minibatch = 4
	}
	if s.MaxEdits == 0 {
		s.MaxEdits = 16
	}
	if s.Rates == (Rates{}) {
		s.Rates = DefaultRates
	}
	if s.Minibatch > len(s.Train) || len(s.Valid) == 0 || s.Attempts < Least(len(s.Valid)) {
		return errs.Newf(errs.InvalidRequest, "the search has %d tasks to train on, %d to validate and %d attempts; it needs %d, 1 and %d", len(s.Train), len(s.Valid), s.Attempts, s.Minibatch, Least(len(s.Valid)))
	}
	if s.Guard == nil {
		var err error
		if s.Guard, err = edit.NewGuard(s.Catalogue, slices.Concat(s.Train, s.Valid)); err != nil {
			return err
		}
	}
	s.eval, s.matrix, s.known = newEvaluator(s.Actor, s.Cache, s.AtOnce), Matrix{}, map[ids.Digest]bool{}
	s.traces, s.belief, s.fit = map[ids.Digest][]Trace{}, newSurrogate(), newFitter(s.Catalogue, s.Base)
	s.pool, s.steps = nil, nil
	m, err := made(s.Base, nil)
	if err != nil {
		return err
	}
	if _, err := m.candidate(mindforge.Candidate{Operator: mindforge.Seed, Seed: s.Seed, Generation: s.Generation}); err != nil {
		return err
	}
	s.known[m.hash] = true
	_, err = s.validate(ctx, &m)
	return err
}

// tell keeps a step, and holds one that is done again to what it was.
func (s *Search) tell(step Step) error {
	s.steps = append(s.steps, step)
	if step.N < len(s.Past) {
		if was := s.Past[step.N]; was.Name != step.Name || was.Stopped != step.Stopped || was.Child != step.Child || was.Mean != step.Mean {
			return errs.Newf(errs.Internal, "step %d of the search came out otherwise than it did before", step.N)
		}
		return nil
	}
	if s.Told == nil {
		return nil
	}
	return s.Told(step)
}

// step proposes one candidate and measures it as far as it goes.
func (s *Search) step(ctx context.Context, n int) (Step, error) {
	r := source(s.Seed, n)
	d, err := s.draft(ctx, n, r)
	step := Step{N: n, Candidate: d.written, Name: d.name, Proposal: d.proposal, Spent: s.eval.spent}
	if err != nil {
		if code := errs.CodeOf(err); code != errs.InvalidRequest && code != errs.NotFound && code != errs.FormatInvalid && code != errs.TooLarge {
			return step, err
		}
		step.Stopped = "proposal: " + errs.Clip(errs.As(err).Message)
		return step, nil
	}
	step.Tuning, step.Lint = edit.Tuning(d.edits), s.Guard.Lint(d.edits, s.Free)
	step.Shrunk = edit.Shrinks(s.Base.Contract, d.pair.Contract)
	if i := slices.IndexFunc(step.Lint, edit.Finding.Refuses); i >= 0 {
		step.Stopped = "lint: " + string(step.Lint[i].Rule)
		return step, nil
	}
	if s.known[d.hash] {
		step.Stopped = "known"
		return step, nil
	}
	s.known[d.hash] = true
	err = s.compare(ctx, r, d, &step)
	step.Spent = s.eval.spent
	return step, err
}

// compare measures child and parent on one minibatch, at the same seeds. Only a child that is
// strictly better there, and better by what all attempts so far say of its edits, is measured
// on validation. Both are filters of cost and no evidence: of children that are as good as
// their parent a minibatch alone lets about a third pass.
func (s *Search) compare(ctx context.Context, r *rand.Rand, d draft, step *Step) error {
	tasks := make([]mindforge.Task, s.Minibatch)
	var wants []want
	for n, i := range r.Perm(len(s.Train))[:s.Minibatch] {
		tasks[n] = s.Train[i]
		seed := seedOf(s.Seed, tasks[n].ID, 1+step.N)
		wants = append(wants, want{d.parent, tasks[n], seed}, want{&d.member, tasks[n], seed})
	}
	if err := s.eval.ahead(ctx, wants...); err != nil {
		return err
	}
	for _, t := range tasks {
		outs, err := s.eval.try(ctx, t, seedOf(s.Seed, t.ID, 1+step.N), d.parent, &d.member)
		if err != nil {
			return err
		}
		step.Items = append(step.Items, t.ID)
		step.Parent, step.Child = step.Parent+outs[0].Points, step.Child+outs[1].Points
		s.trace(d.parent, t, outs[0])
		s.trace(&d.member, t, outs[1])
		s.belief.add(d.parent.edits, t.Family, outs[0].Points)
		s.belief.add(d.edits, t.Family, outs[1].Points)
	}
	switch {
	case step.Child <= step.Parent:
		step.Stopped = "minibatch"
		return nil
	case s.believed(d.edits) <= s.believed(d.parent.edits):
		step.Stopped = "belief"
		return nil
	}
	cells, err := s.validate(ctx, &d.member)
	if err != nil {
		return err
	}
	step.Mean = s.matrix.Mean(d.name)
	step.Gain = step.Mean - s.matrix.Mean(d.parent.name)
	step.Up, step.Down = s.moved(d.parent.name, cells)
	return nil
}

// validate measures a member on every task of validation, and takes it into the pool.
func (s *Search) validate(ctx context.Context, m *member) ([]Cell, error) {
	var cells []Cell
	if err := s.eval.ahead(ctx, over(m, s.Valid, func(t mindforge.Task) uint64 { return seedOf(s.Seed, t.ID, 0) })...); err != nil {
		return nil, err
	}
	for _, t := range s.Valid {
		outs, err := s.eval.try(ctx, t, seedOf(s.Seed, t.ID, 0), m)
		if err != nil {
			return nil, err
		}
		cells = append(cells, Cell{m.name, t.ID, t.Family, 0, outs[0]})
		s.matrix.Add(cells[len(cells)-1])
		s.belief.add(m.edits, t.Family, outs[0].Points)
	}
	s.pool = append(s.pool, m)
	return cells, nil
}

const maxTraces = 32

// trace keeps the last attempts of a member for proposers, failures first.
func (s *Search) trace(m *member, t mindforge.Task, o mindforge.Outcome) {
	at := Trace{t.Family, t.Instruction, o.Pass, o.Failure, o.Evidence}
	all := append([]Trace{at}, s.traces[m.hash]...)
	s.traces[m.hash] = all[:min(len(all), maxTraces)]
}
