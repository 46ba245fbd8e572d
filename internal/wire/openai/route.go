package openai

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"macaron/internal/errs"
	"macaron/internal/turn"
	"macaron/internal/wire/chatapi"
)

// deciding are the fields that a routing decision depends on; others of a chat completion
// are read as there and reported as ignored.
var deciding = []string{"messages", "model", "tools", "tool_choice", "user", "macaron"}

// decision is the answer of POST /v1/route.
type decision struct {
	Object string `json:"object"` // "route"
	turn.Report
}

// route tells who would take a chat completion; nobody answers and nothing is logged.
func (a *api) route(w http.ResponseWriter, r *http.Request) {
	q, err := a.readRoute(w, r)
	if err != nil {
		a.refusals().Fail(w, r, err)
		return
	}
	report, err := a.Routes.Dry(r.Context(), q.Request)
	if err != nil {
		a.refusals().Fail(w, r, err)
		return
	}
	report.Ignored = append(report.Ignored, q.ignored...)
	b, err := json.Marshal(decision{"route", report})
	if err != nil {
		a.refusals().Fail(w, r, errs.Wrap(errs.Internal, err, "the answer cannot be written as JSON", ""))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(b, '\n')) // a client that went away is no failure of ours
}

func (a *api) readRoute(w http.ResponseWriter, r *http.Request) (*request, error) {
	body, err := chatapi.Body(w, r)
	if err != nil {
		return nil, err
	}
	q := &request{model: chatapi.RoutedModel}
	members, err := q.take(body)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if _, known := fields[name]; known && !slices.Contains(deciding, name) {
			q.ignored = append(q.ignored, name)
		}
	}
	q.ID, q.Owner = r.Header.Get("X-Request-Id"), a.Owner(r)
	q.User, q.Scope = a.Users.Acting(r, q.Scope)
	return q, chatapi.Place(&q.Request, r.Header)
}
