package openai

import (
	"net/http"

	"macaron/internal/errs"
	"macaron/internal/turn"
	"macaron/internal/wire/chatapi"
)

type modelList struct {
	Object string      `json:"object"`
	Data   []modelCard `json:"data"`
}

type modelCard struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Created     int64  `json:"created"`
	OwnedBy     string `json:"owned_by"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Revision    string `json:"revision,omitempty"`
}

// cards lists the models in the API's shape.
func (a *api) cards(c turn.Catalog) []modelCard {
	var cards []modelCard
	for _, m := range chatapi.Models(c) {
		cards = append(cards, modelCard{ID: m.ID, Object: "model", Created: a.started.Unix(), OwnedBy: "macaron",
			Name: m.Title, Description: m.Description, Revision: m.Revision})
	}
	return cards
}

func (a *api) models(w http.ResponseWriter, r *http.Request) {
	catalog, err := a.Catalogue.Current(r.Context(), a.Owner(r), a.Users.Of(r), "")
	if err == nil {
		err = chatapi.WriteJSON(w, modelList{Object: "list", Data: a.cards(catalog)})
	}
	if err != nil {
		a.refusals().Fail(w, r, err)
	}
}

func (a *api) model(w http.ResponseWriter, r *http.Request) {
	catalog, err := a.Catalogue.Current(r.Context(), a.Owner(r), a.Users.Of(r), "")
	if err != nil {
		a.refusals().Fail(w, r, err)
		return
	}
	for _, card := range a.cards(catalog) {
		if card.ID == r.PathValue("id") {
			if err := chatapi.WriteJSON(w, card); err != nil {
				a.refusals().Note(r, err)
			}
			return
		}
	}
	a.refusals().Fail(w, r, errs.New(errs.ModelNotFound, "there is no model \""+errs.Clip(r.PathValue("id"))+"\"", "GET /v1/models lists them"))
}
