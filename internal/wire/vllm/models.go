package vllm

import (
	"net/http"

	"macaron/internal/errs"
)

type modelList struct {
	Object string      `json:"object"`
	Data   []modelCard `json:"data"`
}

type modelCard struct {
	ID          string       `json:"id"`
	Object      string       `json:"object"`
	Created     int64        `json:"created"`
	OwnedBy     string       `json:"owned_by"`
	Root        string       `json:"root"`
	Parent      *string      `json:"parent"`
	MaxModelLen *int         `json:"max_model_len"`
	Permission  []permission `json:"permission"`
	Revision    string       `json:"revision,omitempty"` // content hash of an adapter
}

// permission is there because clients of the API look for it; it grants nothing.
type permission struct {
	ID                 string  `json:"id"`
	Object             string  `json:"object"`
	Created            int64   `json:"created"`
	AllowCreateEngine  bool    `json:"allow_create_engine"`
	AllowSampling      bool    `json:"allow_sampling"`
	AllowLogprobs      bool    `json:"allow_logprobs"`
	AllowSearchIndices bool    `json:"allow_search_indices"`
	AllowView          bool    `json:"allow_view"`
	AllowFineTuning    bool    `json:"allow_fine_tuning"`
	Organization       string  `json:"organization"`
	Group              *string `json:"group"`
	IsBlocking         bool    `json:"is_blocking"`
}

func (a *api) card(id string, created int64) modelCard {
	return modelCard{ID: id, Object: "model", Created: created, OwnedBy: "macaron", Root: a.Root, Permission: []permission{{
		ID: "modelperm-" + id, Object: "model_permission", Created: created, AllowSampling: true, AllowLogprobs: true, AllowView: true, Organization: "*",
	}}}
}

// cards lists the base under its names, the adapters, and the model of embeddings.
func (a *api) cards() []modelCard {
	var out []modelCard
	length := a.Engine.Capabilities().Context
	for _, name := range a.Names.Base() {
		c := a.card(name, a.started)
		c.MaxModelLen = &length
		out = append(out, c)
	}
	for _, l := range a.Names.List() {
		c := a.card(l.Name, l.Loaded.Unix())
		c.Root, c.Parent, c.Revision = l.Path, ptr(a.Names.Base()[0]), string(l.Revision.Hash)
		out = append(out, c)
	}
	if a.Embedder != nil {
		c := a.card(a.Embedder.Name(), a.started)
		c.Root, c.MaxModelLen = a.Embedder.Name(), ptr(a.Embedder.MaxTokens())
		out = append(out, c)
	}
	return out
}

// models serves GET /v1/models.
func (a *api) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, modelList{Object: "list", Data: a.cards()})
}

// model serves GET /v1/models/NAME.
func (a *api) model(w http.ResponseWriter, r *http.Request) {
	for _, c := range a.cards() {
		if c.ID == r.PathValue("id") {
			writeJSON(w, c)
			return
		}
	}
	_, err := a.Names.Find(r.PathValue("id"))
	if err == nil {
		err = errs.New(errs.ModelNotFound, "there is no such model", "GET /v1/models lists what there is")
	}
	a.fail(w, r, err, 0)
}
