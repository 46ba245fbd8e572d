package openai

import (
	"net/http"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/turn"
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

// cards lists the routed model and one for each adapter that can be forced.
func (a *api) cards(c turn.Catalog) []modelCard {
	card := modelCard{Object: "model", Created: a.started.Unix(), OwnedBy: "macaron"}
	routed := card
	routed.ID, routed.Name, routed.Description = Model, c.Contract.Name, "chooses a specialist for each turn"
	cards := []modelCard{routed}
	for _, r := range c.Adapters {
		entry, ok := c.Contract.Adapter(r.Name)
		if !ok {
			entry = contract.Adapter{Title: r.Name}
		}
		forced := card
		forced.ID, forced.Name, forced.Description, forced.Revision = Model+"/"+r.Name, entry.Title, entry.Description, string(r.Hash)
		cards = append(cards, forced)
	}
	return cards
}

func (a *api) models(w http.ResponseWriter, r *http.Request) {
	catalog, err := a.Catalogue.Current(r.Context(), a.Owner(r))
	if err == nil {
		err = writeJSON(w, modelList{Object: "list", Data: a.cards(catalog)})
	}
	if err != nil {
		a.fail(w, r, err)
	}
}

func (a *api) model(w http.ResponseWriter, r *http.Request) {
	catalog, err := a.Catalogue.Current(r.Context(), a.Owner(r))
	if err != nil {
		a.fail(w, r, err)
		return
	}
	for _, card := range a.cards(catalog) {
		if card.ID == r.PathValue("id") {
			if err := writeJSON(w, card); err != nil {
				a.note(r, err)
			}
			return
		}
	}
	a.fail(w, r, errs.New(errs.ModelNotFound, "there is no model \""+errs.Clip(r.PathValue("id"))+"\"", "GET /v1/models lists them"))
}
