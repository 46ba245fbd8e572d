package responses

import (
	"encoding/json"
	"net/http"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/wire/chatapi"
)

// conversationObject is the API's object.
type conversationObject struct {
	ID        string          `json:"id"`
	Object    string          `json:"object"`
	CreatedAt int64           `json:"created_at"`
	Metadata  json.RawMessage `json:"metadata"`
}

// converse opens a session that has no turns yet.
func (a *API) converse(w http.ResponseWriter, r *http.Request) error {
	metadata := json.RawMessage(`{}`)
	body, err := chatapi.Body(w, r)
	if err != nil {
		return err
	}
	members, err := limits.Object("", body)
	if err != nil {
		return err
	}
	for name, value := range members {
		switch {
		case limits.Absent(value):
		case name == "metadata":
			if err := chatapi.Metadata(name, value); err != nil {
				return err
			}
			metadata = value
		case name == "items":
			if items, err := limits.List(name, value, limits.MessageCount); err != nil || len(items) > 0 {
				return errs.New(errs.Unsupported, "a conversation begins empty", "send the items as the input of its first response").In(name)
			}
		default:
			return errs.New(errs.InvalidRequest, "there is no field "+errs.Clip(name), "a conversation has metadata").In(errs.Clip(name))
		}
	}
	id, err := a.Log.OpenSession(r.Context(), a.Owner(r), &record.Asked{API: api, Fields: metadata})
	if err != nil {
		return err
	}
	return a.showConversation(w, r, id)
}

// named reads the session that a path names.
func (a *API) named(r *http.Request) (session.Conversation, error) {
	id := r.PathValue("id")
	s, err := parseConversation("", id)
	if err != nil {
		return session.Conversation{}, err
	}
	c, err := a.Log.Conversation(r.Context(), a.Owner(r), s)
	if errs.CodeOf(err) == errs.NotFound || err == nil && c.Deleted {
		return c, noConversation(id)
	}
	return c, err
}

func (a *API) conversation(w http.ResponseWriter, r *http.Request) error {
	c, err := a.named(r)
	if err != nil {
		return err
	}
	return a.showConversation(w, r, c.State.Session)
}

func (a *API) showConversation(w http.ResponseWriter, r *http.Request, id string) error {
	c, err := a.Log.Conversation(r.Context(), a.Owner(r), id)
	if err != nil {
		return err
	}
	metadata := json.RawMessage(`{}`)
	if c.Asked != nil && c.Asked.API == api {
		metadata = c.Asked.Fields
	}
	return chatapi.WriteWhole(w, conversationObject{ID: conversationID(id), Object: "conversation", CreatedAt: c.State.Opened.Unix(), Metadata: metadata})
}

// forget takes a conversation's name back.
func (a *API) forget(w http.ResponseWriter, r *http.Request) error {
	c, err := a.named(r)
	if err != nil {
		return err
	}
	id := r.PathValue("id")
	if err := a.Log.DeleteSession(r.Context(), a.Owner(r), c.State.Session, id); err != nil {
		return err
	}
	return chatapi.WriteWhole(w, map[string]any{"id": id, "object": "conversation.deleted", "deleted": true})
}

// conversationItems lists the items of the turns that the conversation's last one follows.
func (a *API) conversationItems(w http.ResponseWriter, r *http.Request) error {
	c, err := a.named(r)
	if err != nil {
		return err
	}
	byID := map[string]session.Turn{}
	for _, t := range c.Turns {
		byID[t.ID] = t
	}
	var line []session.Turn
	for t, ok := c.Last, c.Last != nil; ok; {
		line = append(line, *t)
		var parent session.Turn
		parent, ok = byID[t.Parent]
		t = &parent
	}
	items := []item{}
	for i := len(line) - 1; i >= 0; i-- {
		t := line[i]
		messages := append(append(append([]chat.Message(nil), t.Imported...), t.User...), t.Trace...)
		items = append(items, inputs(responseID(t.ID, 0), messages)...)
	}
	return page(w, r.URL.Query(), items)
}
