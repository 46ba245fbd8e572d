package web

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/session"
)

// The page sizes of the session list.
const (
	listDefault = 50
	listMost    = 100
)

// sessionList is one page of an owner's sessions, newest first. Next is the value of
// "before" that gives the page after it, empty on the last one.
type sessionList struct {
	Data []sessionHead `json:"data"`
	Next string        `json:"next,omitempty"`
}

type sessionHead struct {
	ID         string    `json:"id"`
	Title      string    `json:"title"`
	Opened     time.Time `json:"opened"`
	Updated    time.Time `json:"updated"`
	Turns      int       `json:"turns"`
	ForkedFrom string    `json:"forked_from,omitempty"`
}

// sessionView is a session with its tree of turns. Inherited turns belong to the
// session that this one was forked from.
type sessionView struct {
	sessionHead
	Tree []turnView `json:"tree"`
}

func (s *server) sessions(r *http.Request) (any, error) {
	before, limit, err := listQuery(r.URL.Query())
	if err != nil {
		return nil, err
	}
	states, err := s.Log.List(r.Context(), s.Owner(r), before, limit+1)
	if err != nil {
		return nil, err
	}
	list := sessionList{Data: []sessionHead{}}
	if len(states) > limit {
		states = states[:limit]
		list.Next = states[limit-1].Updated.UTC().Format(time.RFC3339Nano)
	}
	for _, st := range states {
		list.Data = append(list.Data, headOf(st))
	}
	return list, nil
}

func listQuery(q url.Values) (before time.Time, limit int, err error) {
	limit = listDefault
	if text := q.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > listMost {
			return before, 0, errs.New(errs.InvalidRequest, "limit is not a whole number from 1 to "+strconv.Itoa(listMost), "leave it out").In("limit")
		}
	}
	if text := q.Get("before"); text != "" {
		if before, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return before, 0, errs.New(errs.InvalidRequest, "before is not a time such as 2026-01-31T12:00:00Z", "use the value of next").In("before")
		}
	}
	return before, limit, nil
}

func headOf(st record.SessionState) sessionHead {
	return sessionHead{ID: st.Session, Title: st.Title, Opened: st.Opened, Updated: st.Updated, Turns: st.Turns, ForkedFrom: st.ForkedFrom}
}

func (s *server) session(r *http.Request) (any, error) {
	id, owner := r.PathValue("id"), s.Owner(r)
	if err := ids.Check(ids.Session, id); err != nil {
		return nil, err
	}
	st, turns, err := s.Log.Load(r.Context(), owner, id)
	if err != nil {
		return nil, err
	}
	if turns, err = s.withAncestors(r.Context(), owner, turns); err != nil {
		return nil, err
	}
	view := sessionView{sessionHead: headOf(st), Tree: make([]turnView, 0, len(turns))}
	for i := range turns {
		if turns[i].Part != nil {
			continue // it is seen in the turn that it is a part of
		}
		view.Tree = append(view.Tree, viewOf(&turns[i], turns[i].Session != id))
	}
	return view, nil
}

// withAncestors puts the turns that a forked session shares in front of its own.
func (s *server) withAncestors(ctx context.Context, owner string, turns []session.Turn) ([]session.Turn, error) {
	known := make(map[string]bool, len(turns))
	for i := range turns {
		known[turns[i].ID] = true
	}
	var shared []session.Turn
	for i := range turns {
		parent := turns[i].Parent
		if parent == "" || known[parent] {
			continue
		}
		line, err := s.Log.History(ctx, owner, parent)
		if err != nil {
			return nil, err
		}
		for _, t := range line {
			if !known[t.ID] {
				known[t.ID] = true
				shared = append(shared, t)
			}
		}
	}
	return append(shared, turns...), nil
}
