package compile

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"macaron/internal/ui4a"
)

// Imports of the result are calls of require, which the wrapper gives; nothing is
// resolved and no file is read.
var settings = api.TransformOptions{
	Loader:      api.LoaderTSX,
	JSX:         api.JSXAutomatic,
	Format:      api.FormatCommonJS,
	Target:      api.ES2022,
	Platform:    api.PlatformNeutral,
	TsconfigRaw: `{"compilerOptions":{"jsx":"react-jsx","verbatimModuleSyntax":false}}`,
	Sourcefile:  "card.tsx",
	Sourcemap:   api.SourceMapNone,
	Charset:     api.CharsetUTF8,
	LogLevel:    api.LogLevelSilent,
	LogLimit:    ui4a.MaxDiagnostics,
}

// script compiles the source; "" where it has errors of syntax.
func (c *card) script(r Result) string {
	out := api.Transform(c.Text+c.additions(), settings)
	for _, m := range out.Errors {
		c.syntax(m)
	}
	if len(out.Errors) > 0 {
		return ""
	}
	return c.wrap(r, string(out.Code))
}

// additions are lines behind the source: imports that it forgot, and components that a
// half-written source has not got yet. Declarations count from there as well.
func (c *card) additions() string {
	var b strings.Builder
	for _, module := range sortedKeys(c.added) {
		b.WriteString("\nimport { " + strings.Join(c.added[module], ", ") + " } from " + quote(module) + ";")
	}
	for _, name := range c.absent {
		b.WriteString("\nfunction " + name + "() { return null; }")
	}
	return b.String()
}

func (c *card) wrap(r Result, code string) string {
	meta := map[string]any{"revision": r.Revision, "hooks": r.Hooks, "keys": r.Keys}
	if c.partial {
		meta["partial"] = true
	}
	text, _ := json.Marshal(meta) // of strings and booleans: does not fail
	return "globalThis.__ui4a.define(" + string(text) + ", function (registry) {\n\"use strict\";\n" +
		"var module = { exports: {} }, require = function (name) { return registry[name]; };\n" + code + result
}

// result gives the component: a function that can be called as such.
const result = `var card = module.exports.default;
return typeof card === "function" && !(card.prototype && card.prototype.isReactComponent) ? card : function () { return registry.react.createElement(card); };
});
`

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// syntax tells of an error that the compiler found.
func (c *card) syntax(m api.Message) {
	at := len(c.Text)
	if l := m.Location; l != nil && l.Line <= len(c.lines) {
		at = min(c.lines[l.Line-1]+l.Column, len(c.Text))
	}
	c.fatal = true
	c.tell(ui4a.Error, at, "syntax", "%s", "%s", strings.ReplaceAll(m.Text, "\n", " "), fixOf(m))
}

// fixes are what to do about the compiler's commonest messages, by a part of them.
var fixes = []struct{ part, fix string }{
	{"has already been declared", "rename one of the two"},
	{"Unexpected end of file", "write the card to its end: a bracket, element or string is still open"},
	{"closing", "close every element in the order in which they were opened"},
	{"is not valid inside a JSX element", "write {\"}\"} or {\">\"} for the character itself"},
	{"Unterminated", "close the string, template or comment"},
	{"Top-level await", "there is nothing to wait for: a card has no network; compute it at once"},
	{"Cannot assign to", "a name from const or import keeps its value; use let, or state"},
	{"\"await\" can only be used", "make the function async"},
}

func fixOf(m api.Message) string {
	for _, f := range fixes {
		if strings.Contains(m.Text, f.part) {
			return f.fix
		}
	}
	if len(m.Notes) > 0 {
		if note := strings.ReplaceAll(m.Notes[0].Text, "\n", " "); note != "" && len(note) < 200 && !strings.HasSuffix(note, ":") {
			return note
		}
	}
	return "write valid TSX here"
}
