// Package grammar is the language of answers with at most one card, as a grammar that a
// constrained decoder takes (GBNF): prose, and behind it a card of a subset of the
// language of cards, whose components, props and values come from the library's table.
// Every card of it compiles without errors.
//
// What is context-sensitive in TSX is made regular: a card has one of a few shapes, and each
// shape its imports and its names for state and data, so that nothing is named that is not
// declared. Counts of children, rows and words are bounded;
// a decoder that closes answers in time does the rest.
package grammar

import (
	"fmt"
	"strings"
	"sync"

	"macaron/internal/ui4a"
)

// The bounds of a card.
const (
	maxChildren = 12
	maxItems    = 16 // of lists, rows of tables, points of charts
	maxWords    = 24 // of a text
)

// Source is the grammar; its first symbol is root.
func Source() string { return source() }

var source = sync.OnceValue(func() string {
	w := &writer{}
	w.rule("root", `prose | (prose "\n")? card`)
	w.prose()
	w.texts()
	w.data()
	var all []string
	for _, s := range shapes {
		w.shape(s)
		all = append(all, s.name)
	}
	w.rule("card", lit(ui4a.Fence+"\n")+" ("+strings.Join(all, " | ")+") "+lit("\n````"))
	return w.String()
})

// writer collects rules.
type writer struct{ strings.Builder }

func (w *writer) rule(name, is string) { fmt.Fprintf(&w.Builder, "%s ::= %s\n", name, is) }

// lit is a text as it stands.
func lit(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// fill is a text in which «rule» stands for a rule, or for another piece of a grammar.
func fill(text string) string {
	var out []string
	for text != "" {
		i := strings.Index(text, "«")
		if i < 0 {
			i = len(text)
		}
		if i > 0 {
			out = append(out, lit(text[:i]))
		}
		if text = text[i:]; text != "" {
			rule, rest, _ := strings.Cut(strings.TrimPrefix(text, "«"), "»")
			out, text = append(out, rule), rest
		}
	}
	return strings.Join(out, " ")
}

func list(of string, most int) string { return fmt.Sprintf(`%s (", " %s){0,%d}`, of, of, most-1) }
