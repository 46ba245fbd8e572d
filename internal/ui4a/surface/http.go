package surface

import (
	"bytes"
	"context"
	"net/http"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/limits"
	"macaron/internal/ui4a"
	"macaron/internal/ui4a/action"
	"macaron/internal/ui4a/room"
)

// Handler serves POST /v1/cards, GET /v1/cards/{turn}, GET /v1/cards/{turn}/pictures/{name}, POST
// /v1/cards/{turn}/actions and POST /v1/cards/{turn}/events. It expects the guard in front of it.
func (d *Desk) Handler(behind room.Room) http.Handler {
	mux := behind.Mux(map[string]room.Answer{
		"POST /v1/cards":                d.frames,
		"GET /v1/cards/{turn}":          d.cards,
		"POST /v1/cards/{turn}/actions": d.actions,
		"POST /v1/cards/{turn}/events":  d.events,
	})
	mux.HandleFunc("GET /v1/cards/{turn}/pictures/{name}", func(w http.ResponseWriter, r *http.Request) {
		if err := d.picture(w, r, behind.Owner(r)); err != nil {
			behind.Fail(w, err)
		}
	})
	return mux
}

func (d *Desk) frames(r *http.Request, owner string) (any, error) {
	var draft Draft
	if err := read(r, &draft, limits.BodyBytes); err != nil {
		return nil, err
	}
	if err := ids.Check(ids.Turn, draft.Turn); err != nil {
		return nil, err
	}
	if draft.After != "" {
		if err := ids.Check(ids.Turn, draft.After); err != nil {
			return nil, err
		}
	}
	return d.Frame(r.Context(), owner, draft)
}

func (d *Desk) cards(r *http.Request, owner string) (any, error) {
	turn := r.PathValue("turn")
	if err := ids.Check(ids.Turn, turn); err != nil {
		return nil, err
	}
	return d.Cards(r.Context(), owner, turn)
}

// maxPosted bounds what a page tells of a card, with the private values to look for.
const maxPosted = 4 * action.MaxAction

func (d *Desk) actions(r *http.Request, owner string) (any, error) {
	turn := r.PathValue("turn")
	if err := ids.Check(ids.Turn, turn); err != nil {
		return nil, err
	}
	if err := limits.ContentType(r.Header.Get("Content-Type")); err != nil {
		return nil, err
	}
	body, err := limits.TextBody(r.Body, r.ContentLength, maxPosted)
	if err != nil {
		return nil, err
	}
	a, secrets, err := action.ReadPosted(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return d.Act(r.Context(), owner, turn, a, secrets)
}

// told is the answer to an event.
type told struct {
	Repair *Repair `json:"repair,omitempty"`
}

func (d *Desk) events(r *http.Request, owner string) (any, error) {
	turn := r.PathValue("turn")
	if err := ids.Check(ids.Turn, turn); err != nil {
		return nil, err
	}
	var e Event
	if err := read(r, &e, maxPosted); err != nil {
		return nil, err
	}
	if _, err := ui4a.ParseSurface(string(e.Surface)); err != nil {
		return nil, err
	}
	do, ok := map[string]func(context.Context, string, string, Event) error{"drawn": d.Drawn, "state": d.Keep, "left": d.Left}[e.Event]
	switch {
	case ok:
		return told{}, do(r.Context(), owner, turn, e)
	case e.Event == "failed":
		repair, err := d.Failed(r.Context(), owner, turn, e)
		return told{repair}, err
	}
	return nil, errs.New(errs.InvalidRequest, "there is no such event", "use drawn, state, failed or left").In("event")
}
