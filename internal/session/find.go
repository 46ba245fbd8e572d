package session

import (
	"context"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
)

// findPages bounds the sessions that Find looks through, in pages of MaxList.
const findPages = 5

// Find gives the turn that an identifier of a turn, of a hop or of a request belongs to.
// Hops and requests are not indexed: they are looked for in the owner's sessions from the
// newest on, a bounded number of them.
func (l *Log) Find(ctx context.Context, owner, id string) (string, error) {
	if ids.Check(ids.Turn, id) == nil {
		return id, nil
	}
	var before time.Time
	for range findPages {
		states, err := l.List(ctx, owner, before, MaxList)
		if err != nil {
			return "", err
		}
		for _, s := range states {
			if turn, err := l.findIn(ctx, owner, s.Session, id); err != nil || turn != "" {
				return turn, err
			}
			before = s.Updated
		}
		if len(states) < MaxList {
			break
		}
	}
	return "", errs.New(errs.NotFound, "no turn, hop or request of that id is among your recent ones", "give the id of the turn: it finds older ones too")
}

func (l *Log) findIn(ctx context.Context, owner, session, id string) (string, error) {
	for after := int64(0); ; {
		next, err := l.store.Records(ctx, owner, session, after, page)
		if err != nil {
			return "", err
		}
		for _, r := range next {
			hop, isHop := r.Body.(record.Hop)
			if r.Turn != "" && (r.Request == id || isHop && hop.ID == id) {
				return r.Turn, nil
			}
			after = r.Seq
		}
		if len(next) < page {
			return "", nil
		}
	}
}
