package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"macaron/internal/adapter"
	"macaron/internal/canonical"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/jobs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/ledger"
)

// work is one stage of one generation, with what the ledger says of the run.
type work struct {
	*Loop
	g      int
	stage  string
	ticket jobs.Ticket
	bodies map[string]ledger.Body
	known  map[expansion.Key]mindforge.Outcome
	spent  mindforge.Cost
	over   bool // the run ends here
}

// open reads the run's entries, and what is kept beside them.
func (l *Loop) open(ctx context.Context, g int, stage string, t jobs.Ticket) (*work, error) {
	w := &work{Loop: l, g: g, stage: stage, ticket: t, bodies: map[string]ledger.Body{}, known: map[expansion.Key]mindforge.Outcome{}}
	all, err := l.Ledger.All(ctx, l.Owner, l.Run)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if err := e.Sound(); err != nil { // what was changed meanwhile is not gone on from
			return nil, err
		}
		b, err := e.Decode()
		if err != nil {
			return nil, err
		}
		w.bodies[e.Key] = b
		w.spent = w.spent.Plus(costOf(b))
		if m, ok := b.(ledger.Made); ok {
			if err := w.recall(ctx, m); err != nil {
				return nil, err
			}
		}
	}
	return w, nil
}

func (w *work) recall(ctx context.Context, m ledger.Made) error {
	switch {
	case m.What == "outcomes":
		var cells []cell
		if err := w.read(ctx, m.Hash, &cells); err != nil {
			return err
		}
		for _, c := range cells {
			w.known[c.Key] = c.Outcome
		}
	case m.What == "revision" && w.Updater != nil:
		return w.Updater.Recall(ctx, m, func(h ids.Digest) (string, error) { return w.text(ctx, ledger.PlainText, h) })
	}
	return nil
}

// costOf is what of an entry counts towards the budgets: attempts where they were kept,
// decisions, and trainings.
func costOf(b ledger.Body) mindforge.Cost {
	switch b := b.(type) {
	case ledger.Made:
		return b.Cost
	case ledger.Decision:
		return b.Decision.Cost
	}
	return mindforge.Cost{}
}

// key names a step of this generation.
func (w *work) key(format string, args ...any) string {
	return fmt.Sprintf("g%03d/", w.g) + fmt.Sprintf(format, args...)
}

func (w *work) has(key string) bool { return w.bodies[key] != nil }

// note writes a step, once.
func (w *work) note(ctx context.Context, key string, b ledger.Body, texts ...ledger.Text) error {
	if w.has(key) {
		return nil
	}
	if _, err := w.Ledger.Write(ctx, w.Owner, texts, nil, ledger.Draft{Run: w.Run, Key: key, Body: b}); err != nil {
		return err
	}
	w.bodies[key] = b
	w.spent = w.spent.Plus(costOf(b))
	w.point("noted/" + key)
	return nil
}

func (w *work) text(ctx context.Context, what ledger.What, name ids.Digest) (string, error) {
	return w.Ledger.Store.KeptText(ctx, w.Owner, what, name)
}

// read decodes a kept text, held to its name.
func (w *work) read(ctx context.Context, name ids.Digest, into any) error {
	text, err := ledger.Whole(name, func(h ids.Digest) (string, error) { return w.text(ctx, ledger.PlainText, h) })
	if err != nil {
		return err
	}
	return errs.Wrap(errs.FormatInvalid, json.Unmarshal([]byte(text), into), "the kept text "+name.Short()+" cannot be read", "go on with the build that wrote it")
}

func plain(v any) (ledger.Text, error) {
	raw, err := canonical.Bytes(v)
	return ledger.Plain(string(raw)), err
}

// list is a list of any length as it is kept: the first text names it.
func (w *work) list(v any) ([]ledger.Text, error) {
	raw, err := canonical.Bytes(v)
	if err != nil {
		return nil, err
	}
	return ledger.Parts(string(raw), w.Ledger.Limits.Text)
}

// candidate enters a pair, with its contract's text, under a key.
func (w *work) candidate(ctx context.Context, key string, c mindforge.Candidate, k *contract.Contract) (ids.Digest, error) {
	h, err := c.Hash()
	if err != nil {
		return h, err
	}
	text, err := k.Text()
	if err != nil {
		return h, err
	}
	return h, w.note(ctx, key, ledger.Candidate{Hash: h, Candidate: c}, ledger.Text{What: ledger.ContractText, Name: k.Hash(), Text: string(text)})
}

// entered is a candidate of the run, as a pair.
type entered struct {
	hash   ids.Digest
	Record mindforge.Candidate
	Pair   mindforge.Pair
}

// parents are those of what comes of candidates.
func parents(all ...entered) (out []ids.Digest) {
	for _, e := range all {
		out = append(out, e.hash)
	}
	return out
}

// pair gives a candidate of the run that was entered under a key.
func (w *work) pair(ctx context.Context, key string) (entered, error) {
	b, ok := w.bodies[key].(ledger.Candidate)
	if !ok {
		return entered{}, errs.New(errs.Internal, "the run has no candidate "+key, "")
	}
	text, err := w.text(ctx, ledger.ContractText, b.Candidate.Contract)
	if err != nil {
		return entered{}, err
	}
	k, err := contract.Parse([]byte(text))
	if err == nil && k.Hash() != b.Candidate.Contract {
		err = errs.New(errs.ChecksumMismatch, "the kept contract "+b.Candidate.Contract.Short()+" is not what its name says", "restore the database from a backup")
	}
	return entered{b.Hash, b.Candidate, mindforge.Pair{Contract: k, Revisions: b.Candidate.Revisions}}, err
}

// byHash gives the candidate of a name.
func (w *work) byHash(ctx context.Context, h ids.Digest) (entered, error) {
	for key, b := range w.bodies {
		if c, ok := b.(ledger.Candidate); ok && c.Hash == h {
			return w.pair(ctx, key)
		}
	}
	return entered{}, errs.New(errs.Internal, "the run has no candidate "+h.Short(), "")
}

// champion is the pair that the generation began with.
func (w *work) champion(ctx context.Context) (entered, error) {
	s, ok := w.bodies[w.key("begin")].(ledger.Step)
	if !ok {
		return entered{}, errs.New(errs.Internal, "the generation has not begun", "")
	}
	return w.byHash(ctx, s.Result)
}

// errBudget ends a run.
var errBudget = errors.New("a budget of the run is spent")

// budget says which budget is spent, with what else is to be counted.
func (w *work) budget(more mindforge.Cost) (ledger.Budget, bool) {
	c, b := w.spent.Plus(more), w.Budget
	for _, x := range []ledger.Budget{
		{What: "attempts", Spent: float64(c.Attempts), Limit: float64(b.Attempts)}, {What: "tokens", Spent: float64(c.Trained), Limit: float64(b.Trained)},
		{What: "usd", Spent: c.USD, Limit: b.USD}, {What: "seconds", Spent: float64(c.WallMS) / 1000, Limit: b.Seconds},
	} {
		if x.Limit > 0 && x.Spent >= x.Limit {
			return x, true
		}
	}
	return ledger.Budget{}, false
}

// end closes the run.
func (w *work) end(ctx context.Context, why string, champion ids.Digest) error {
	w.over = true
	return w.note(ctx, "end", ledger.Step{Generation: w.g, Name: "run", State: "ended", Result: champion, Note: why})
}

// outOfBudget ends the run where a budget was spent in the middle of a stage.
func (w *work) outOfBudget(ctx context.Context, err error) error {
	if !errors.Is(err, errBudget) {
		return err
	}
	b, _ := w.budget(mindforge.Cost{})
	if err := w.note(ctx, w.key("budget/%s", b.What), b); err != nil {
		return err
	}
	c, err := w.champion(ctx)
	if err != nil {
		return err
	}
	return w.end(ctx, "the budget of "+b.What+" is spent", c.hash)
}

// with is a pair with another revision of one adapter.
func with(p mindforge.Pair, r adapter.Revision) mindforge.Pair {
	out := mindforge.Pair{Contract: p.Contract}
	for _, x := range p.Revisions {
		if x.Name != r.Name {
			out.Revisions = append(out.Revisions, x)
		}
	}
	out.Revisions = append(out.Revisions, r)
	return out
}
