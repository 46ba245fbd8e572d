package session

import (
	"context"

	"macaron/internal/ids"
	"macaron/internal/record"
)

// Conversation is a session as one that is gone on with by its name.
type Conversation struct {
	State   record.SessionState
	Asked   *record.Asked // of a session that was opened before its first turn
	Turns   []Turn        // in the order they were opened
	Last    *Turn         // what a new turn follows: the last that has ended or waits for results, nil if there is none
	Deleted bool          // it is not to be had by its name any more
}

// OpenSession opens a session that has no turns yet and gives its id.
func (l *Log) OpenSession(ctx context.Context, owner string, asked *record.Asked) (string, error) {
	id := l.ids.New(ids.Session)
	t := &Turn{Owner: owner, Session: id, Purpose: record.Production, Consent: record.ConsentNone}
	opened := l.record(t, record.SessionOpened{Root: id, Asked: asked})
	return id, l.store.Append(ctx, record.Batch{Records: []record.Record{opened}})
}

// Conversation reads a session whole.
func (l *Log) Conversation(ctx context.Context, owner, id string) (c Conversation, err error) {
	var all []record.Record
	if c.State, all, err = l.all(ctx, owner, id); err != nil {
		return c, err
	}
	for _, r := range all {
		switch b := r.Body.(type) {
		case record.SessionOpened:
			c.Asked = b.Asked
		case record.Deleted:
			c.Deleted = c.Deleted || r.Turn == ""
		}
	}
	c.Turns = fold(all)
	for i := range c.Turns {
		if t := &c.Turns[i]; t.Part == nil && (t.Status == record.StatusDelivered || t.Status == record.StatusAwaiting) {
			c.Last = t
		}
	}
	if c.Last == nil && c.State.ForkedFrom != "" {
		c.Last, err = l.turn(ctx, owner, c.State.ForkedFrom)
	}
	return c, err
}

// DeleteSession records that a session is not to be had by a name any more; its turns stay.
func (l *Log) DeleteSession(ctx context.Context, owner, id, name string) error {
	if _, err := l.store.Session(ctx, owner, id); err != nil {
		return err
	}
	t := &Turn{Owner: owner, Session: id, Purpose: record.Production, Consent: record.ConsentNone}
	return l.store.Append(ctx, record.Batch{Records: []record.Record{l.record(t, record.Deleted{Response: name})}})
}
