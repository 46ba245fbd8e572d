// Package mutant breaks good cards in known ways, as changes of their source, to see that
// the bench notices: each kind of defect has one layer that must drop, and no other may.
package mutant

import (
	"strings"

	"macaron/internal/bench/ui4a"
)

// Kind is one way to break a card.
type Kind struct {
	Layer string
	Name  string
	// Break gives the broken source; false where the card has nothing to break so.
	Break func(c *ui4a.Case) (string, bool)
}

// Kinds are all of them, layer by layer.
func Kinds() []Kind {
	var all []Kind
	for _, list := range [][]Kind{renderKinds(), contentKinds(), visualKinds(), interactionKinds(), constraintKinds()} {
		all = append(all, list...)
	}
	return all
}

// patch is what a wrapper around a card does.
type patch struct {
	imports string // further import lines
	module  string // further statements of the module
	body    string // statements of the wrapper before its effect
	once    string // with box, the element around the card, once it is mounted
	change  string // with box, then and after every change below it
	before  string // JSX before the card
	after   string // JSX behind it
	inside  string // JSX in the card's place
}

// wrap puts a card into a component that changes what it draws.
func wrap(source string, p patch) (string, bool) {
	name, inner, ok := inner(source)
	if !ok {
		return "", false
	}
	if p.inside == "" {
		p.inside = "<" + name + " />"
	}
	return strings.NewReplacer("IMPORTS", p.imports, "INNER", inner, "MODULE", p.module, "BODY", p.body, "ONCE", p.once, "CHANGE", p.change, "BEFORE", p.before, "AFTER", p.after, "INSIDE", p.inside).Replace(wrapper), true
}

const wrapper = `import { useLayoutEffect as useMutantEffect, useRef as useMutantRef } from "react";
IMPORTS
INNER
MODULE
export default function MutantCard() {
  const mutantPlace = useMutantRef<HTMLDivElement>(null);
  BODY
  useMutantEffect(() => {
    const box = mutantPlace.current;
    if (!box) return;
    const change = () => { CHANGE };
    ONCE
    change();
    const watch = new MutationObserver(() => { watch.disconnect(); change(); observe(); });
    const observe = () => watch.observe(box, { subtree: true, childList: true, characterData: true, attributes: true });
    observe();
    return () => watch.disconnect();
  }, []);
  return <div ref={mutantPlace} style={{ position: "relative" }}>BEFORE INSIDE AFTER</div>;
}
`

// inner takes the export from the default component and gives its name.
func inner(source string) (name, rest string, ok bool) {
	const begin = "export default function "
	before, after, ok := strings.Cut(source, begin)
	if !ok {
		return "", "", false
	}
	name, tail, ok := strings.Cut(after, "(")
	if !ok || strings.TrimSpace(name) == "" {
		return "", "", false
	}
	return name, before + "function " + name + "(" + tail, true
}

// always is a kind that fits every card.
func always(layer, name string, p patch) Kind {
	return Kind{layer, name, func(c *ui4a.Case) (string, bool) { return wrap(c.Card, p) }}
}

// where is a kind for cards in whose source one of some texts stands.
func where(layer, name string, p patch, texts ...string) Kind {
	return Kind{layer, name, func(c *ui4a.Case) (string, bool) {
		for _, t := range texts {
			if strings.Contains(c.Card, t) {
				return wrap(c.Card, p)
			}
		}
		return "", false
	}}
}

// edit is a kind that replaces a text of the source.
func edit(layer, name, from, to string) Kind {
	return Kind{layer, name, func(c *ui4a.Case) (string, bool) {
		return strings.Replace(c.Card, from, to, 1), strings.Contains(c.Card, from)
	}}
}
