// Package compile makes one classic script of a card's TSX, and says what is wrong with
// it in words that a model can act on: line, column, and what to write instead.
//
// The script is one call:
//
//	globalThis.__ui4a.define(META, function (registry) { "use strict"; … return COMPONENT; });
//
// META is a JSON object: "revision", the digest of the source; "hooks", the hook signatures
// of the module's functions by name, the component's as "default": state can be kept over
// two revisions with the same one; "keys", the declared state, as a list of {"name", "noai"};
// "partial", true for a frame of a card that is still being written. registry is an object
// with the modules that cards import, by import name, and with react and
// react/jsx-runtime; the factory reads it when it is called. It throws what the module's
// own statements throw. COMPONENT is the default export as a function without props; a
// class, or what memo gives, is wrapped in one. Names of functions are kept.
//
// Compile reads no file and resolves nothing: an import becomes a look-up in registry.
// It is a function of its arguments. It bounds what a source can cost before any parser
// runs. What the script may do is not decided here but by the runtime's boundary; rules
// against networks and the like spare a card a failure at run time.
package compile

import (
	"unicode/utf8"

	"macaron/internal/ids"
	"macaron/internal/ui4a"
	"macaron/internal/ui4a/tsx"
)

// Options say for what a card is compiled.
type Options struct {
	// Partial compiles a frame of a half-written card: components that are not there yet
	// draw nothing, and no rule is applied but those on imports.
	Partial bool
}

// Result is a compiled card.
type Result struct {
	JS       string            // empty where the card cannot run at all
	Revision ids.Digest        // of the source
	Hooks    map[string]string // hook signatures of the module's functions that call hooks, by name; the default export is "default"
	Keys     []Key             // the declared state, sorted by name
	Imports  []string          // modules that are imported, sorted
}

// Key is a key of state that the source declares.
type Key struct {
	Name string `json:"name"`
	NoAI bool   `json:"noai"` // with usePrivateState or PrivateField: no model sees it
}

// Compile compiles a card. Errors among the findings do not always mean that there is no
// script: a card with an unknown prop runs, and is to be repaired all the same. The
// findings are in the order of the source, at most ui4a.MaxDiagnostics.
func Compile(source string, o Options) (Result, []ui4a.Diagnostic) {
	r := Result{Revision: ids.DigestOf([]byte(source))}
	c := &card{partial: o.Partial}
	if !c.bounds(source) {
		return r, c.findings()
	}
	c.read()
	c.imports()
	if !o.Partial {
		c.rules()
	}
	r.Hooks, r.Keys, r.Imports = c.signatures(), c.keys(), c.modules()
	if !c.fatal {
		r.JS = c.script(r)
	}
	return r, c.findings()
}

// card is a source on its way through the compiler.
type card struct {
	*tsx.Source
	partial  bool
	lines    []int // where lines begin
	list     []ui4a.Diagnostic
	fatal    bool // no script can be made
	imported []imported
	top      map[string]int // names that the module declares, and the token at which
	declared map[string]bool
	exported export
	added    map[string][]string // names that the source forgot to import, by module
	absent   []string            // components that nobody declares
	styled   map[string]bool     // classes of the card's own style elements
}

// bounds refuses what may not reach a parser.
func (c *card) bounds(source string) bool {
	c.Source = &tsx.Source{Text: source}
	switch long := longestLine(source); {
	case len(source) > ui4a.MaxSource:
		c.whole("too-large", "the card has %d bytes; %d are allowed", "say it with less code; large data does not belong into a card", len(source), ui4a.MaxSource)
		return false
	case !utf8.ValidString(source):
		c.whole("not-utf8", "the card is no UTF-8", "write it as UTF-8")
		return false
	case long > ui4a.MaxLine:
		c.whole("too-large", "a line has %d bytes; %d are allowed", "break the line", long, ui4a.MaxLine)
		return false
	}
	c.Source = tsx.Scan(source, ui4a.MaxNesting)
	c.lines = lineStarts(source)
	if c.Deep >= 0 {
		c.fail(c.Deep, "too-deep", "more than %d brackets and elements are open here", "take the inner parts out into functions or components", ui4a.MaxNesting)
		return false
	}
	return c.chains()
}
