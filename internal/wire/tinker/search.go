package tinker

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/mint"
)

// searched bounds how many sessions one search looks at.
const searched = 2000

// query is what a search asks for; empty fields ask for nothing.
type query struct {
	id, name string
	metadata map[string]string
	statuses map[string]bool
	owned    bool
	limit    int
	before   string // of the cursor: the last session that was told
}

type summary struct {
	ID          string    `json:"session_id"`
	Created     string    `json:"created_at"`
	Owner       string    `json:"owner"`
	Project     string    `json:"project_id"`
	Status      any       `json:"status"`
	Checkpoints int       `json:"checkpoints_count"`
	Name        string    `json:"display_name,omitempty"`
	Metadata    any       `json:"user_metadata,omitempty"`
	created     time.Time // for the cursor
}

// searchSessions answers an own search, the newest first.
func (a *api) searchSessions(w http.ResponseWriter, r *http.Request) error {
	if r.PathValue("id") != "search" {
		return errs.New(errs.NotFound, "a session takes no POST", "POST .../sessions/search, or .../finish below a session")
	}
	o, err := body(r)
	if err != nil {
		return err
	}
	q := readQuery(o)
	if err := o.close(); err != nil {
		return err
	}
	found, err := a.search(r, q)
	if err != nil {
		return err
	}
	v := map[string]any{"sessions": filled(found[:min(len(found), q.limit)])}
	if len(found) > q.limit {
		last := found[q.limit-1]
		v["next_cursor"] = map[string]string{"last_created_at": last.Created, "last_session_id": last.ID}
	}
	return a.answer(w, r, v)
}

func readQuery(o *object) query {
	q := query{id: o.name("session_id"), name: strings.ToLower(o.name("display_name")), limit: int(o.whole("limit", 50, 1, 200)), statuses: map[string]bool{}, metadata: map[string]string{}}
	for key, raw := range o.object("user_metadata").members {
		text, err := limits.Text("user_metadata", raw, limits.MetadataText)
		o.fail(err)
		q.metadata[key] = text
	}
	for _, raw := range o.list("statuses", 8) {
		s := objectOf("statuses", raw)
		q.statuses[s.name("type")] = true
		s.of("reasons")
		o.fail(s.close())
	}
	owner := o.object("owner")
	q.owned = owner.name("type") != "user"
	owner.of("owner_urns")
	cursor := o.object("cursor")
	cursor.of("last_created_at")
	q.before = cursor.name("last_session_id")
	if len(o.list("project_ids", limits.Metadata)) > 0 {
		o.fail(errs.New(errs.Unsupported, "sessions are not searched by project here", "leave project_ids out").In("project_ids"))
	}
	o.fail(owner.err)
	o.fail(cursor.err)
	return q
}

// search gives one session more than the limit if there are more.
func (a *api) search(r *http.Request, q query) ([]summary, error) {
	var found []summary
	if !q.owned {
		return nil, nil
	}
	ids, _, err := a.Service.Sessions(r.Context(), a.owner(r), mint.Page{Limit: searched})
	if err != nil {
		return nil, err
	}
	passed := q.before == ""
	for _, id := range ids {
		if !passed {
			passed = id == q.before
			continue
		}
		s, runs, _, err := a.Service.Session(r.Context(), a.owner(r), id)
		if err != nil {
			return nil, err
		}
		if !q.matches(s) {
			continue
		}
		one, err := a.summary(r, s, runs)
		if err != nil {
			return nil, err
		}
		if found = append(found, one); len(found) > q.limit {
			break
		}
	}
	return found, nil
}

// matches: an id and a name find what either of them finds.
func (q query) matches(s mint.Session) bool {
	if q.id != "" || q.name != "" {
		byID, byName := q.id != "" && s.ID == q.id, q.name != ""
		for _, word := range strings.Fields(q.name) {
			byName = byName && strings.Contains(strings.ToLower(s.DisplayName), word)
		}
		if !byID && !byName {
			return false
		}
	}
	if len(q.statuses) > 0 && !q.statuses[statusOf(s)] {
		return false
	}
	own := map[string]json.RawMessage{}
	_ = json.Unmarshal(s.Metadata, &own) // what is no object has no members
	for key, want := range q.metadata {
		var have string
		if json.Unmarshal(own[key], &have) != nil || have != want {
			return false
		}
	}
	return true
}

func statusOf(s mint.Session) string {
	switch {
	case s.Ended.IsZero():
		return "active"
	case s.Reason == mint.Expired:
		return "cancelled"
	}
	return "client_finished"
}

func (a *api) summary(r *http.Request, s mint.Session, runs []string) (summary, error) {
	one := summary{ID: s.ID, Created: stamp(s.Created), Owner: s.Owner, Project: s.Project, Name: s.DisplayName, created: s.Created}
	status := map[string]any{"type": statusOf(s)}
	if statusOf(s) == "client_finished" {
		status["reason"] = map[string]string{"type": string(s.Reason)}
	}
	one.Status = status
	if len(s.Metadata) > 0 {
		one.Metadata = texts(s.Metadata)
	}
	for _, run := range runs {
		_, total, err := a.Service.Checkpoints(r.Context(), a.owner(r), run, mint.Page{Limit: 1})
		if err != nil {
			return one, err
		}
		one.Checkpoints += total
	}
	return one, nil
}

// texts is metadata whose values are texts, as the SDK's types of answers have them.
func texts(raw json.RawMessage) any {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	out := map[string]string{}
	for key, value := range all {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		out[key] = text
	}
	return out
}
