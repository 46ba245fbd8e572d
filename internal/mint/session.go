package mint

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/ledger"
)

// session is one that lives, or has ended a moment ago.
type session struct {
	row   ledger.Session
	wrote time.Time // when the store was told of a sign of life
}

// CreateSession begins a session.
func (s *Service) CreateSession(ctx context.Context, owner string, r NewSession) (Session, error) {
	about, err := json.Marshal(r)
	if err != nil {
		return Session{}, err
	}
	if len(about) > maxAbout {
		return Session{}, errs.Newf(errs.TooLarge, "what the session says of itself has %d bytes, more than %d", len(about), maxAbout)
	}
	now := s.o.Clock.Now().UTC()
	row := ledger.Session{Owner: owner, ID: s.o.IDs.New(ids.Session), About: about, Created: now, Seen: now}
	s.mu.Lock()
	err = s.ready
	if n := s.living(owner); err == nil && n >= s.o.Limits.Sessions {
		err = full(fmt.Sprintf("%d sessions live", n), s.o.Limits.Sessions, "finish one, or wait until a silent one expires")
	}
	s.mu.Unlock()
	if err != nil {
		return Session{}, err
	}
	if err := s.o.Store.Write(ctx, ledger.Change{Sessions: []ledger.Session{row}}); err != nil {
		return Session{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[row.ID] = &session{row: row, wrote: now}
	return sessionOf(row)
}

// maxAbout bounds what clients say of their sessions, models and checkpoints.
const maxAbout = 1 << 20

// living counts an owner's sessions; s.mu is held.
func (s *Service) living(owner string) (n int) {
	for _, e := range s.sessions {
		if e.row.Owner == owner && e.row.Ended.IsZero() {
			n++
		}
	}
	return n
}

func sessionOf(row ledger.Session) (Session, error) {
	out := Session{ID: row.ID, Owner: row.Owner, Created: row.Created, Seen: row.Seen, Ended: row.Ended, Reason: Reason(row.Reason), Detail: row.Detail}
	return out, json.Unmarshal(row.About, &out.NewSession)
}

// alive gives a session that takes requests, and notes the sign of life; s.mu is held.
func (s *Service) alive(ctx context.Context, owner, id string) (*session, error) {
	if s.ready != nil {
		return nil, s.ready
	}
	e := s.sessions[id]
	if e == nil || e.row.Owner != owner {
		row, err := s.o.Store.Session(ctx, owner, id)
		if err != nil {
			return nil, err
		}
		if !row.Ended.IsZero() {
			return nil, ended(row)
		}
		e = &session{row: row} // of another process, which lost its hold at that moment
		s.sessions[id] = e
	}
	if !e.row.Ended.IsZero() {
		return nil, ended(e.row)
	}
	e.row.Seen = s.o.Clock.Now().UTC()
	return e, nil
}

func ended(row ledger.Session) error {
	why := "it has ended: " + row.Reason
	if Reason(row.Reason) == Expired {
		why = "nothing was heard of its client for too long"
	}
	return errs.New(errs.Gone, "the session "+errs.Clip(row.ID)+" is over: "+why, "begin a new session; checkpoints are kept")
}

// touch notes a sign of life of a session's client; s.mu is held.
func (s *Service) touch(owner, id string) {
	if e := s.sessions[id]; e != nil && e.row.Owner == owner && e.row.Ended.IsZero() {
		e.row.Seen = s.o.Clock.Now().UTC()
	}
}

// Heartbeat notes that a session's client lives. errs.Gone tells it that the session does not.
func (s *Service) Heartbeat(ctx context.Context, owner, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.alive(ctx, owner, id)
	return err
}

// Finish ends a session. To end it again changes nothing.
func (s *Service) Finish(ctx context.Context, owner, id string, why Reason, detail string) error {
	switch why {
	case Success, Errored, Interrupted:
	default:
		return errs.Newf(errs.InvalidRequest, "%q is no reason for the end of a session: success, errored and interrupted are", errs.Clip(string(why))).In("reason")
	}
	if len(detail) > maxAbout {
		return errs.Newf(errs.TooLarge, "the detail has %d bytes, more than %d", len(detail), maxAbout).In("detail")
	}
	s.mu.Lock()
	_, err := s.alive(ctx, owner, id)
	s.mu.Unlock()
	if errs.CodeOf(err) == errs.Gone {
		return nil
	}
	if err != nil {
		return err
	}
	return s.end(ctx, id, why, detail)
}

// end ends a session: what is pending fails, its models are unloaded.
func (s *Service) end(ctx context.Context, id string, why Reason, detail string) error {
	s.mu.Lock()
	e := s.sessions[id]
	if e == nil || !e.row.Ended.IsZero() {
		s.mu.Unlock()
		return nil
	}
	row := e.row
	row.Ended, row.Reason, row.Detail = s.o.Clock.Now().UTC(), string(why), detail
	s.mu.Unlock()
	if err := s.o.Store.Write(ctx, ledger.Change{Sessions: []ledger.Session{row}}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.row = row
	for _, f := range s.futures {
		if f.op.Session == id && f.op.State == string(Pending) {
			f.canceled = true
			if f.cancel != nil {
				f.cancel()
			}
		}
	}
	s.changed.Broadcast()
	return nil
}

// Session gives a session with the names of its training runs and samplers.
func (s *Service) Session(ctx context.Context, owner, id string) (out Session, runs, samplers []string, err error) {
	row, err := s.o.Store.Session(ctx, owner, id)
	if err != nil {
		return out, nil, nil, err
	}
	models, err := s.o.Store.ModelsOf(ctx, owner, id)
	if err != nil {
		return out, nil, nil, err
	}
	for _, m := range models {
		runs = append(runs, m.ID)
	}
	all, err := s.o.Store.SamplersOf(ctx, owner, id)
	if err != nil {
		return out, nil, nil, err
	}
	for _, m := range all {
		samplers = append(samplers, m.ID)
	}
	out, err = sessionOf(row)
	return out, runs, samplers, err
}

// Sessions lists an owner's sessions, the newest first.
func (s *Service) Sessions(ctx context.Context, owner string, p Page) (names []string, total int, err error) {
	rows, total, err := s.o.Store.Sessions(ctx, owner, p.checked())
	for _, r := range rows {
		names = append(names, r.ID)
	}
	return names, total, err
}

// checked holds a page to what one answer may have.
func (p Page) checked() ledger.Page {
	if p.Limit <= 0 || p.Limit > 1000 {
		p.Limit = 1000
	}
	return ledger.Page{Limit: p.Limit, Offset: max(p.Offset, 0)}
}
