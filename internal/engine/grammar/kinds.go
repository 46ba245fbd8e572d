package grammar

import (
	"encoding/json"

	"macaron/internal/errs"
)

// Spacing says where JSON may have white space.
type Spacing uint8

// The spacings. Each ends: no answer can be white space for ever.
const (
	Spaced  Spacing = iota // one space, or a line break and up to 40 spaces, wherever JSON has room for some within a value
	Compact                // none
)

// SchemaOptions decide what a JSON Schema leaves open.
type SchemaOptions struct {
	Spacing Spacing
	// FormatAsNote treats a "format" that is not built in as an annotation, as the
	// standard does by default; else it is Unsupported.
	FormatAsNote bool
	// Closed takes an object that declares properties and says nothing about others as
	// one that has no others.
	Closed bool
}

// Tool is a function that the model may call.
type Tool struct {
	Name       string
	Parameters json.RawMessage // JSON Schema of an object; empty: any object
}

// Layout is how a family of models writes calls: Begin, a call, Between, a call, End.
// A call is Open, the name, Middle, the arguments, Close. Tokens that are special to
// the model may be part of these texts.
type Layout struct {
	Begin, Between, End string
	Open, Middle, Close string
	Trigger             string // in free text, the beginning of Begin+Open from which on only a call is allowed; empty: Begin+Open
}

// ToolMode says whether the answer calls tools.
type ToolMode uint8

// The modes.
const (
	Auto     ToolMode = iota // text, calls, or text and then calls
	Required                 // calls only; with one tool, calls of that one
)

// Calls of tools.
type ToolOptions struct {
	Mode     ToolMode
	Parallel bool // more than one call
	Schema   SchemaOptions
}

var notYet = errs.New(errs.Unsupported, "this kind of constraint is not built in yet", "")

// Tools keeps the calls in an answer to the tools offered.
func (v *Vocab) Tools(tools []Tool, l Layout, o ToolOptions) (*Grammar, error) { return nil, notYet }
