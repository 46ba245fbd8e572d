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

// span is how long after its making an identifier of a hop or request is looked for: a hop
// ends, and a request begins, well within it.
const span = time.Hour

// Find gives the turn that an identifier of a turn, of a hop or of a request belongs to.
// Identifiers of ours tell when they were made, as those of records do, so that they are
// looked up among the records of then. A client's own name of a request does not: it is
// looked for in the owner's sessions from the newest on, a bounded number of them.
func (l *Log) Find(ctx context.Context, owner, id string) (string, error) {
	if ids.Check(ids.Turn, id) == nil {
		return id, nil
	}
	for _, k := range []ids.Kind{ids.Hop, ids.Request} {
		if at, ours := ids.TimeOf(k, id); ours {
			turn, err := l.store.Locate(ctx, owner, ids.From(ids.Record, at), ids.From(ids.Record, at.Add(span)), id)
			if err != nil || turn != "" {
				return turn, err
			}
		}
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
