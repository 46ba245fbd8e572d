// Package library is the table of what a card may import: modules, their exports, the
// props of components, names of icons and utility classes. The table is generated from
// the sources of the runtime (internal/ui4a/runtime), so that what is checked, what is
// taught and what runs are the same.
package library

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// Kind says what an export is.
type Kind string

// The kinds of exports.
const (
	Component Kind = "component"
	Icon      Kind = "icon"     // a component without children; all icons have the props of Table.Icon
	Function  Kind = "function" // hooks too
	Foreign   Kind = "foreign"  // another project's, whose documentation holds
)

// Table is the whole of it.
type Table struct {
	Modules []Module            `json:"modules"`
	Classes []Class             `json:"classes"`
	Tokens  map[string][]string `json:"tokens"` // colours, as #rrggbb in the light and the dark theme
}

// Module is one import name, such as "$ui4a/ui".
type Module struct {
	Name    string   `json:"name"`
	Doc     string   `json:"doc"`
	Exports []Export `json:"exports"`
}

// Export is one name of a module.
type Export struct {
	Name      string `json:"name"`
	Kind      Kind   `json:"kind"`
	Doc       string `json:"doc,omitempty"`
	Signature string `json:"signature,omitempty"` // of functions, as TypeScript, without the name
	Props     []Prop `json:"props,omitempty"`     // of components, in the order in which they are taught
}

// Prop is one prop of a component.
type Prop struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`             // TypeScript
	Values   []string `json:"values,omitempty"` // all that the type allows, when it is a union of strings
	Required bool     `json:"required,omitempty"`
	Doc      string   `json:"doc,omitempty"`
}

// Class is a family of utility classes, such as p-0 to p-12.
type Class struct {
	Doc   string   `json:"doc"`
	Names []string `json:"names"`
}

//go:embed library.json
var raw []byte

// JSON gives the table as it is committed.
func JSON() []byte { return raw }

var table = sync.OnceValue(func() Table {
	var t Table
	if err := json.Unmarshal(raw, &t); err != nil {
		panic("library.json: " + err.Error()) // a test reads it
	}
	return t
})

// Modules gives every module, in the order in which they are taught. The caller must
// not change it.
func Modules() []Module { return table().Modules }

// Classes gives the families of utility classes. The caller must not change it.
func Classes() []Class { return table().Classes }

// Find gives the module of an import name.
func Find(module string) (Module, bool) {
	for _, m := range table().Modules {
		if m.Name == module {
			return m, true
		}
	}
	return Module{}, false
}

// Export gives the export of a name.
func (m Module) Export(name string) (Export, bool) {
	for _, e := range m.Exports {
		if e.Name == name {
			return e, true
		}
	}
	return Export{}, false
}

// Prop gives the prop of a name.
func (e Export) Prop(name string) (Prop, bool) {
	for _, p := range e.Props {
		if p.Name == name {
			return p, true
		}
	}
	return Prop{}, false
}
