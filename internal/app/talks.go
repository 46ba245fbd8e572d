package app

import (
	"context"
	"slices"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/trajectory"
	"macaron/internal/ui4a/surface"
)

// Talks are the branches of a conversation, each to a turn that none of it follows, with
// what became of the cards in them. Of what a person did there they have what a model saw.
func (p *Production) Talks(ctx context.Context, owner, id string) ([]trajectory.Talk, error) {
	_, turns, err := p.sessions.Load(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	if len(turns) == 0 {
		return nil, errs.New(errs.InvalidRequest, "the session has no turns of a conversation", "macaron run export prints a run")
	}
	followed := map[string]bool{}
	for i := range turns {
		followed[turns[i].Parent] = true
	}
	all := map[string]*acted{}
	var out []trajectory.Talk
	for i := range turns {
		if followed[turns[i].ID] {
			continue
		}
		line, err := p.sessions.History(ctx, owner, turns[i].ID)
		if err != nil {
			return nil, err
		}
		talk, err := p.talk(ctx, id, line, all)
		if err != nil {
			return nil, err
		}
		out = append(out, talk)
	}
	return out, nil
}

// acted is what a session's records have of cards, and which answers are deleted.
type acted struct {
	by      map[string]record.CardAction   // by the Action's id
	on      map[string][]record.CardAction // by where it was done
	deleted map[string]bool                // by turn
}

func (p *Production) acted(ctx context.Context, owner, id string) (*acted, error) {
	records, err := p.records(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	a := &acted{by: map[string]record.CardAction{}, on: map[string][]record.CardAction{}, deleted: map[string]bool{}}
	for _, r := range records {
		switch b := r.Body.(type) {
		case record.CardAction:
			a.by[b.Action.ID] = b
			a.on[placeOf(r.Turn, b)] = append(a.on[placeOf(r.Turn, b)], b)
		case record.Deleted:
			a.deleted[r.Turn] = true
		}
	}
	return a, nil
}

// placeOf is where an Action was done: a canvas' name alone is that of several cards, in
// branches of one conversation too.
func placeOf(turn string, a record.CardAction) string {
	return place(turn, a.Action.Origin.Surface, a.Action.Origin.Revision)
}

func place(turn, surface, revision string) string { return turn + " " + revision + " " + surface }

func (p *Production) talk(ctx context.Context, id string, line []session.Turn, all map[string]*acted) (trajectory.Talk, error) {
	for i := range line {
		if s := line[i].Session; all[s] == nil {
			a, err := p.acted(ctx, line[i].Owner, s)
			if err != nil {
				return trajectory.Talk{}, err
			}
			all[s] = a
		}
	}
	out := trajectory.Talk{Session: id}
	for i := range line {
		out.Turns = append(out.Turns, spoken(line[:i+1], all))
	}
	return out, nil
}

// spoken is the last of some turns.
func spoken(line []session.Turn, all map[string]*acted) trajectory.Spoken {
	t := &line[len(line)-1]
	s := trajectory.Spoken{Turn: t.ID, Opened: t.Opened, Closed: t.Closed, System: t.System, Said: slices.Concat(t.Imported, t.User), Trace: t.Trace,
		Status: t.Status, Contract: t.Contract, Deleted: all[t.Session].deleted[t.ID]}
	if t.Status != record.StatusDelivered {
		s.Partial = t.Partial()
	}
	for _, h := range t.Hops {
		if h.Hop == record.HopAnswer && h.Error == "" && h.Message != nil {
			s.Answers = append(s.Answers, h)
		}
	}
	for _, a := range all {
		if done, ok := a.by[t.Request]; ok && t.Request != "" {
			s.Action = trajectory.ActionOf(done)
		}
	}
	if !slices.ContainsFunc(t.Trace, func(m chat.Message) bool { return strings.Contains(m.Text(), "```") }) {
		return s
	}
	for _, e := range surface.Ends(line) {
		c := trajectory.Card{Surface: e.Surface, Revision: e.Revision, Outcome: e.Outcome, Rounds: e.Rounds}
		for _, a := range all {
			for _, done := range a.on[place(e.Turn, e.Surface, string(e.Revision))] {
				c.Receipts = append(c.Receipts, trajectory.Told(done))
			}
		}
		s.Cards = append(s.Cards, c)
	}
	return s
}
