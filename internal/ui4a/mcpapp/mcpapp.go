// Package mcpapp is the form in which hosts that speak MCP Apps (SEP-1865, 2026-01-26) show
// cards: the card as the tool render_ui hands it to the host, and the one view that every
// card is shown in (docs/formats/ui4a-hosts.md).
package mcpapp

import (
	"macaron/internal/ui4a/action"
	"macaron/internal/ui4a/compile"
)

// The view as a resource of the protocol, and the name of the extension.
const (
	URI       = "ui://macaron/card"
	MIME      = "text/html;profile=mcp-app"
	Extension = "io.modelcontextprotocol/ui"
)

// Meta is where the card lies in a result's metadata, which hosts keep from the model.
const Meta = "macaron/card"

// Card is a card for the view.
type Card struct {
	Revision string                `json:"revision"`
	Script   string                `json:"script"`
	Source   string                `json:"source"` // the view finds literals in it
	Keys     map[string]action.Key `json:"keys"`
}

// Of makes a card of what the compiler gave; its script is empty where it cannot run.
func Of(source string, r compile.Result) Card {
	c := Card{Revision: string(r.Revision), Script: r.JS, Source: source, Keys: map[string]action.Key{}}
	for _, k := range r.Keys {
		c.Keys[k.Name] = action.Key{NoAI: k.NoAI}
	}
	return c
}

// ResourceMeta says what the view asks of its host: scripts at addresses of its own, which
// cards are run by, and nothing from any other computer.
func ResourceMeta() map[string]any {
	return map[string]any{"csp": map[string]any{"resourceDomains": []string{"blob:"}}, "prefersBorder": false}
}

// Speaks says whether a client draws views, by the extensions that it told of.
func Speaks(extensions map[string]any) bool {
	told, _ := extensions[Extension].(map[string]any)
	types, _ := told["mimeTypes"].([]any)
	for _, t := range types {
		if t == MIME {
			return true
		}
	}
	return false
}
