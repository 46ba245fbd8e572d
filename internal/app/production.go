package app

import (
	"context"
	"time"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/filter"
	"macaron/internal/ownview"
	"macaron/internal/record"
	"macaron/internal/registry"
	"macaron/internal/session"
	"macaron/internal/trajectory"
	"macaron/internal/transcript"
	"macaron/internal/ui4a/surface"
)

// Production reads what people and agents did out of the log, for the data filter: every
// turn and run of a tenant, in the order of the sessions' identifiers.
type Production struct {
	Store Store
	Home  string // where contracts are kept

	sessions  *session.Log
	contracts map[ids.Digest]*contract.Contract
	erasures  map[string]map[string]record.Erased // owner -> session
	deleted   map[string]map[string]bool          // session -> turns whose answer was deleted
}

// NewProduction reads the log of a home.
func NewProduction(s Store, home string) *Production {
	return &Production{Store: s, Home: home, sessions: session.New(s, session.Options{}), contracts: map[ids.Digest]*contract.Contract{}, deleted: map[string]map[string]bool{}, erasures: map[string]map[string]record.Erased{}}
}

// readPage is how many sessions, or records, are read at once.
const readPage = 256

// Feed puts all of a tenant into a filter. What is in memory at once is one session.
func (p *Production) Feed(ctx context.Context, f *filter.Filter, owner string) error {
	f.Owner(owner)
	for last := ""; ; {
		list, err := p.Store.Stale(ctx, owner, time.Time{}, last, readPage)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, last = range list {
			f.Session()
			if err := p.session(ctx, f, owner, last); err != nil && errs.CodeOf(err) != errs.NotFound { // NotFound: deleted meanwhile
				return err
			}
		}
	}
}

func (p *Production) records(ctx context.Context, owner, session string) (all []record.Record, err error) {
	for after := int64(0); ; {
		page, err := p.Store.Records(ctx, owner, session, after, readPage)
		if err != nil || len(page) == 0 {
			return all, err
		}
		all, after = append(all, page...), page[len(page)-1].Seq
	}
}

func (p *Production) session(ctx context.Context, f *filter.Filter, owner, id string) error {
	records, err := p.records(ctx, owner, id)
	if err != nil {
		return err
	}
	state, err := p.Store.Session(ctx, owner, id)
	if err != nil {
		return err
	}
	var order []string
	turns := map[string]*heard{}
	used := used{acts: map[string][]record.CardAction{}, turns: map[string]*heard{}}
	for _, r := range records {
		switch r.Body.(type) {
		case record.RunOpened:
			return p.run(ctx, f, records)
		case record.TurnOpened:
			order = append(order, r.Turn)
			turns[r.Turn] = &heard{opened: r.Head}
			used.turns[r.Request] = turns[r.Turn]
		}
		if a, ok := r.Body.(record.CardAction); ok {
			at := placeOf(r.Turn, a)
			used.acts[at] = append(used.acts[at], a)
		}
		if t := turns[r.Turn]; t != nil {
			t.add(r)
		}
	}
	for _, turn := range order {
		if err := p.turn(ctx, f, turns[turn], state.Root, used); err != nil {
			return err
		}
	}
	return nil
}

func (p *Production) run(ctx context.Context, f *filter.Filter, records []record.Record) error {
	r := transcript.Fold(records)
	t, err := trajectory.Training(r)
	if err != nil {
		return f.Refuse(filter.Dropped{Owner: r.Head.Owner, Session: r.Head.Session, Run: r.Head.Run, Reason: unadmitted(r.Head)})
	}
	return f.Run(ctx, t)
}

// unadmitted is why something is not admitted, by its own head or by those that it shows.
func unadmitted(h record.Head, shown ...record.Head) string {
	for _, x := range append(shown, h) {
		if x.Purpose != record.Production && x.Purpose != record.Discovery {
			return "purpose"
		}
	}
	return "consent"
}

// heard is what a session's records say of one of its turns beyond what a fold keeps.
type heard struct {
	opened   record.Head
	answers  []trajectory.Answer
	feedback *record.Feedback
	deleted  bool
}

func (t *heard) add(r record.Record) {
	switch b := r.Body.(type) {
	case record.Hop:
		if b.Hop == record.HopAnswer && b.Error == "" && b.Message != nil {
			t.answers = append(t.answers, trajectory.Answer{Head: r.Head, Hop: b})
		}
	case record.Feedback:
		t.feedback = &b
	case record.Deleted:
		t.deleted = true
	}
}

// used is what people did on the cards of a session.
type used struct {
	acts  map[string][]record.CardAction // by where they were done
	turns map[string]*heard              // by request: an Action's id is that of the turn which it became
}

// cards are those that the last of some turns wrote, with what came of them. What a model
// saw of an Action is left out where the turn that had it may not leave, or was deleted.
func (u used) cards(line []session.Turn) (out []trajectory.Card) {
	for _, e := range surface.Ends(line) {
		c := trajectory.Card{Surface: e.Surface, Revision: e.Revision, Outcome: e.Outcome, Rounds: e.Rounds}
		for _, a := range u.acts[place(e.Turn, e.Surface, string(e.Revision))] {
			t := u.turns[a.Action.ID]
			c.Receipts = append(c.Receipts, trajectory.ReceiptOf(a, t != nil && !t.deleted && trajectory.May(t.opened)))
		}
		out = append(out, c)
	}
	return out
}

func (p *Production) turn(ctx context.Context, f *filter.Filter, t *heard, root string, used used) error {
	h := t.opened
	refuse := func(reason string) error {
		return f.Refuse(filter.Dropped{Owner: h.Owner, Session: h.Session, Turn: h.Turn, Reason: reason})
	}
	line, err := p.sessions.History(ctx, h.Owner, h.Turn)
	if errs.CodeOf(err) == errs.TooLarge {
		return refuse("no_view")
	}
	if err != nil {
		return err
	}
	e := trajectory.Exchange{Opened: h, Root: root, Answers: t.answers, Feedback: t.feedback}
	for i := range line[:len(line)-1] {
		b := &line[i]
		e.History = append(e.History, record.Head{Owner: b.Owner, Session: b.Session, Turn: b.ID, Purpose: b.Purpose, Consent: b.Consent, Contract: b.Contract})
	}
	admitted, err := trajectory.TrainingTurn(&e)
	if err != nil {
		return refuse(unadmitted(e.Opened, e.History...))
	}
	switch gone, err := p.gone(ctx, t, &e); {
	case err != nil:
		return err
	case gone:
		return refuse("deleted")
	}
	if reason := p.view(&e, line); reason != "" {
		return refuse(reason)
	}
	e.Cards = used.cards(line)
	return f.Turn(ctx, admitted)
}

// gone reports whether a person has deleted the answer of the turn or of one that it shows.
func (p *Production) gone(ctx context.Context, t *heard, e *trajectory.Exchange) (bool, error) {
	if t.deleted {
		return true, nil
	}
	for _, h := range e.History {
		turns, err := p.deletedIn(ctx, h.Owner, h.Session)
		if err != nil || turns[h.Turn] {
			return true, err
		}
	}
	return false, nil
}

// deletedIn lists the turns of a session whose answer was deleted. A few sessions are kept.
func (p *Production) deletedIn(ctx context.Context, owner, session string) (map[string]bool, error) {
	key := owner + "\x00" + session
	if turns, ok := p.deleted[key]; ok {
		return turns, nil
	}
	records, err := p.records(ctx, owner, session)
	if err != nil {
		return nil, err
	}
	const kept = 64
	if len(p.deleted) >= kept {
		clear(p.deleted)
	}
	turns := map[string]bool{}
	for _, r := range records {
		if _, ok := r.Body.(record.Deleted); ok {
			turns[r.Turn] = true
		}
	}
	p.deleted[key] = turns
	return turns, nil
}

// view fills in what the specialist saw, or says why nobody can.
func (p *Production) view(e *trajectory.Exchange, line []session.Turn) (reason string) {
	t := line[len(line)-1]
	switch {
	case t.Status != record.StatusDelivered:
		return "unfinished"
	case len(t.Joined) > 0 || t.Part != nil:
		return "several_specialists"
	}
	c, err := p.contract(t.Contract)
	if err != nil {
		return "no_view"
	}
	current := t.View()
	current.Trace = nil
	e.View, err = ownview.Build(c, session.Views(line[:len(line)-1]), current, t.Specialist())
	if err != nil {
		return "no_view"
	}
	e.User, e.Trace, e.Tools, e.Adapter, e.Status = t.User, t.Trace, t.Tools, t.Revision, t.Status
	return ""
}

func (p *Production) contract(d ids.Digest) (*contract.Contract, error) {
	if c := p.contracts[d]; c != nil {
		return c, nil
	}
	c, err := registry.Kept(p.Home, d)
	if err == nil {
		p.contracts[d] = c
	}
	return c, err
}

// Gone implements filter.Gone: it looks a session or turn of a dataset up.
func (p *Production) Gone(ctx context.Context, owner, session, turn string) (gone bool, why string, at time.Time, err error) {
	if turn == "" {
		if _, err = p.Store.Session(ctx, owner, session); errs.CodeOf(err) != errs.NotFound {
			return false, "", at, err
		}
		why, at, err = p.erased(ctx, owner, session)
		return true, why, at, err
	}
	state, err := p.Store.Turn(ctx, owner, turn)
	if errs.CodeOf(err) == errs.NotFound {
		return true, "", at, nil
	}
	if err != nil {
		return false, "", at, err
	}
	turns, err := p.deletedIn(ctx, owner, state.Session)
	return turns[turn], "its answer was deleted", at, err
}

// erased says why a session is gone and since when, as far as the log knows.
func (p *Production) erased(ctx context.Context, owner, session string) (string, time.Time, error) {
	if p.erasures[owner] == nil {
		all, err := p.Store.Erasures(ctx, owner, 1<<20)
		if err != nil {
			return "", time.Time{}, err
		}
		p.erasures[owner] = map[string]record.Erased{}
		for _, e := range all {
			p.erasures[owner][e.Session] = e
		}
	}
	e := p.erasures[owner][session]
	return e.Why, e.Time, nil
}
