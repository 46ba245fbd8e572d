package grammar

import (
	"fmt"
	"strings"

	"macaron/internal/ui4a/library"
)

// bound is how a prop is written that is no literal, by its name: a state's value and what
// sets it. Props that are not literals and not bound are left out.
type bound map[string]string

// props are the attributes of a component, in one order: those that must be there, ranges,
// what is bound, the others. Texts and numbers are literals, words of a list those words.
func props(module, name string, b bound) string {
	m, _ := library.Find(module)
	x, ok := m.Export(name)
	if !ok {
		panic("the library has no " + name) // the tests make the grammar
	}
	var groups [4]string
	for _, p := range x.Props {
		value, literal := written(p), b[p.Name] == ""
		if name == "Button" && literal && p.Name != "tone" {
			continue // sizes and toggles are for layouts that this has not
		}
		if !literal {
			value = fill(" " + p.Name + "={" + b[p.Name] + "}")
		}
		switch {
		case value == "":
		case p.Required:
			groups[0] += " " + value
		case !literal:
			groups[2] += " " + value
		case p.Type == "number":
			groups[1] += " (" + value + ")?"
		default:
			groups[3] += " (" + value + ")?"
		}
	}
	return strings.Join(groups[:], "")
}

// written is a prop with a literal, "" for one whose type has none here.
func written(p library.Prop) string {
	switch head := " " + p.Name + "="; {
	case p.Name == "className", p.Name == "src", p.Name == "error", p.Name == "value" && !p.Required: // looks, pictures, and what only code sets
		return ""
	case len(p.Values) > 0:
		var words []string
		for _, v := range p.Values {
			words = append(words, `"`+v+`"`)
		}
		return lit(head) + " (" + quoted(words) + ")"
	case p.Type == "string":
		return lit(head) + " s"
	case p.Type == "number":
		return fmt.Sprintf(`%s num "}"`, lit(head+"{"))
	case p.Type == "string | number":
		return fmt.Sprintf(`(%s s | %s num "}")`, lit(head), lit(head+"{"))
	case p.Type == "boolean" && p.Name != "open" && p.Name != "checked" && p.Name != "disabled":
		return lit(head[:len(head)-1])
	case p.Type == "Choice[]":
		return fmt.Sprintf(`%s strings "}"`, lit(head+"{"))
	}
	return ""
}

const (
	ui     = "$ui4a/ui"
	charts = "$ui4a/charts"
)

// leaf is an element without children.
func leaf(name string, b bound) string { return of(ui, name, b) }

func of(module, name string, b bound) string {
	return lit("<"+name) + props(module, name, b) + lit(" />")
}

// around is an element with something inside.
func around(name string, b bound, inside string) string {
	return lit("<"+name) + props(ui, name, b) + lit(">") + " " + inside + " " + lit("</"+name+">")
}
