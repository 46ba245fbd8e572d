package anthropic

import (
	"net/http"
	"strconv"
	"time"

	"macaron/internal/errs"
	"macaron/internal/wire/chatapi"
)

// pageSize is how many models a page has unless the client says otherwise.
const pageSize = 20

type modelList struct {
	Data    []modelCard `json:"data"`
	HasMore bool        `json:"has_more"`
	FirstID *string     `json:"first_id"`
	LastID  *string     `json:"last_id"`
}

type modelCard struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	DisplayName string `json:"display_name"`
	CreatedAt   string `json:"created_at"`
	Lifecycle   string `json:"lifecycle"`
	Description string `json:"description,omitempty"`
	Revision    string `json:"revision,omitempty"`
}

func (a *api) cards(r *http.Request) ([]modelCard, error) {
	catalog, err := a.Catalogue.Current(r.Context(), a.Owner(r), a.Users.Of(r), "")
	if err != nil {
		return nil, err
	}
	cards := []modelCard{}
	for _, m := range chatapi.Models(catalog) {
		cards = append(cards, modelCard{Type: "model", ID: m.ID, DisplayName: m.Title, CreatedAt: a.started.UTC().Format(time.RFC3339),
			Lifecycle: "active", Description: m.Description, Revision: m.Revision})
	}
	return cards, nil
}

// models serves GET /v1/models, a page at a time.
func (a *api) models(w http.ResponseWriter, r *http.Request) {
	cards, err := a.cards(r)
	if err != nil {
		a.refusals().Fail(w, r, err)
		return
	}
	page, err := pageOf(cards, r)
	if err == nil {
		err = chatapi.WriteJSON(w, page)
	}
	if err != nil {
		a.refusals().Fail(w, r, err)
	}
}

// pageOf cuts the page that a request's query asks for.
func pageOf(cards []modelCard, r *http.Request) (modelList, error) {
	query := r.URL.Query()
	limit := pageSize
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1000 {
			return modelList{}, errs.Newf(errs.InvalidRequest, "limit is %q, but must be a whole number from 1 to 1000", errs.Clip(text)).In("limit")
		}
		limit = n
	}
	from, to := 0, len(cards)
	for i, c := range cards {
		if c.ID == query.Get("after_id") {
			from = i + 1
		}
		if c.ID == query.Get("before_id") {
			to = i
		}
	}
	page := modelList{Data: cards[min(from, to):to]}
	if page.HasMore = len(page.Data) > limit; page.HasMore {
		if query.Get("before_id") != "" {
			page.Data = page.Data[len(page.Data)-limit:]
		} else {
			page.Data = page.Data[:limit]
		}
	}
	if n := len(page.Data); n > 0 {
		page.FirstID, page.LastID = &page.Data[0].ID, &page.Data[n-1].ID
	}
	return page, nil
}

// model serves GET /v1/models/{id}.
func (a *api) model(w http.ResponseWriter, r *http.Request) {
	cards, err := a.cards(r)
	if err != nil {
		a.refusals().Fail(w, r, err)
		return
	}
	for _, c := range cards {
		if c.ID == r.PathValue("id") {
			if err := chatapi.WriteJSON(w, c); err != nil {
				a.refusals().Note(r, err)
			}
			return
		}
	}
	a.refusals().Fail(w, r, errs.New(errs.ModelNotFound, "there is no model \""+errs.Clip(r.PathValue("id"))+"\"", "GET /v1/models lists them"))
}
