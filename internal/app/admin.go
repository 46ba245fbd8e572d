package app

import (
	"net/http"

	"macaron/internal/adapter"
	"macaron/internal/auth"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/turn"
)

// route answers POST /admin/route {"text": ..., "previous": {"label", "text"}} with
// the decision that a turn would get; nothing is logged and nobody answers.
func (a *App) route(w http.ResponseWriter, r *http.Request) {
	text, previous, err := readRoute(r)
	if err != nil {
		a.fail(w, err)
		return
	}
	report, err := a.turns.Route(r.Context(), auth.Owner(r), auth.Of(r.Context()).User, text, previous)
	if err != nil {
		a.fail(w, err)
		return
	}
	writeJSON(w, http.StatusOK, report)
}

// explain answers GET /admin/route/{id} with how a turn of the log was routed; id is of the
// turn, of a hop of it, or of the request.
func (a *App) explain(w http.ResponseWriter, r *http.Request) {
	x, err := turn.Explain(r.Context(), a.sessions, a.catalogue, auth.Owner(r), r.PathValue("id"))
	if err != nil {
		a.fail(w, err)
		return
	}
	writeJSON(w, http.StatusOK, x)
}

func readRoute(r *http.Request) (string, *contract.Previous, error) {
	if err := limits.ContentType(r.Header.Get("Content-Type")); err != nil {
		return "", nil, err
	}
	body, err := limits.Body(r.Body, r.ContentLength)
	if err != nil {
		return "", nil, err
	}
	members, err := limits.Object("", body)
	if err != nil {
		return "", nil, err
	}
	for member := range members {
		if member != "text" && member != "previous" {
			return "", nil, errs.New(errs.InvalidRequest, "there is no field "+errs.Clip(member), "send text, and previous if there is one").In(errs.Clip(member))
		}
	}
	text, err := limits.Text("text", members["text"], limits.TextBytes)
	if err != nil {
		return "", nil, err
	}
	if text == "" {
		return "", nil, errs.New(errs.InvalidRequest, "text is empty", "send what a person would say").In("text")
	}
	if limits.Absent(members["previous"]) {
		return text, nil, nil
	}
	before, err := limits.Object("previous", members["previous"])
	if err != nil {
		return "", nil, err
	}
	p := &contract.Previous{}
	if p.Label, err = limits.Text("previous.label", before["label"], limits.NameBytes); err == nil {
		err = adapter.CheckName(p.Label)
	}
	if err == nil {
		p.Text, err = limits.Text("previous.text", before["text"], limits.TextBytes)
	}
	return text, p, err
}
