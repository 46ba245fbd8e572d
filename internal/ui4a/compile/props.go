package compile

import (
	"slices"
	"strings"

	"macaron/internal/ui4a/library"
	"macaron/internal/ui4a/tsx"
)

// component looks at an element of the library: props that it does not have or needs.
func (c *card) component(e tsx.Element) {
	x, ok := c.exportOf(e.Name)
	if !ok || x.Kind != library.Component {
		return
	}
	given := map[string]bool{"children": c.hasChildren(e)}
	for _, a := range e.Attrs {
		given[a.Name] = true
		if !a.Spread {
			c.prop(x, e, a)
		}
	}
	if _, takes := x.Prop("children"); given["children"] && !takes && !e.Leaf {
		c.wrong(e.Start, "unknown-prop", "%s takes nothing inside", "write <%s … />; it has the props %s", x.Name, x.Name, propNames(x))
	}
	for _, p := range x.Props {
		if p.Required && !given[p.Name] && !c.spreads(e) {
			c.wrong(e.Start, "missing-prop", "%s needs %s", "%s", x.Name, p.Name, example(x, p))
		}
	}
	if p, ok := attribute(e, "className"); ok {
		c.classes(p)
	}
	if x.Name == "Button" {
		c.pressable(e)
		c.unnamed(e)
	}
}

// exportOf finds what an element's name was imported as.
func (c *card) exportOf(name string) (library.Export, bool) {
	local, member, dotted := strings.Cut(name, ".")
	for _, m := range c.imported {
		for _, b := range m.names {
			if b.local == local && (b.name == "*") == dotted {
				if dotted {
					b.name = member
				}
				lib, _ := library.Find(m.module)
				return lib.Export(b.name)
			}
		}
	}
	for module, names := range c.added {
		if slices.Contains(names, name) {
			lib, _ := library.Find(module)
			return lib.Export(name)
		}
	}
	return library.Export{}, false
}

// hasChildren says whether there is more than white space in an element.
func (c *card) hasChildren(e tsx.Element) bool {
	if e.Leaf || e.TagEnd < 0 {
		return false
	}
	for i := e.TagEnd + 1; i < e.End; i++ {
		if c.Tokens[i].Kind != tsx.Text || strings.TrimSpace(c.TextOf(i)) != "" {
			return true
		}
	}
	return false
}

func propNames(x library.Export) string {
	var names []string
	for _, p := range x.Props {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

func example(x library.Export, p library.Prop) string {
	value := "={…}"
	switch {
	case p.Name == "children":
		return "write something inside: <" + x.Name + ">…</" + x.Name + ">"
	case len(p.Values) > 0:
		value = "=" + quote(p.Values[0])
	case p.Type == "string":
		value = `="…"`
	}
	return "write <" + x.Name + " " + p.Name + value + ">: " + p.Type
}

// prop looks at one prop of a component of the library.
func (c *card) prop(x library.Export, e tsx.Element, a tsx.Attribute) {
	p, ok := x.Prop(a.Name)
	if !ok {
		if a.Name != "key" && a.Name != "ref" && !c.enough() && !strings.HasPrefix(a.Name, "data-") {
			c.unknownProp(x, a)
		}
		return
	}
	text := c.literal(a)
	plain := strings.Trim(text, `'"`)
	switch {
	case len(p.Values) > 0 && (text != "" && !slices.Contains(p.Values, plain) || a.Value < 0):
		c.wrong(a.At, "wrong-value", "%s of %s cannot be %.60q", "use one of %s", a.Name, x.Name, plain, strings.Join(p.Values, ", "))
	case text != "" && p.Type == "number":
		c.wrong(a.At, "wrong-value", "%s of %s is a number, not the text %.60q", "write %s={%s}", a.Name, x.Name, plain, a.Name, number(plain))
	case text != "" && p.Type == "boolean":
		c.wrong(a.At, "wrong-value", "%s of %s is true or false, not the text %.60q", "write %s or %s={false}", a.Name, x.Name, plain, a.Name, a.Name)
	case text != "" && strings.Contains(p.Type, "=>") && strings.HasPrefix(p.Type, "("):
		c.wrong(a.At, "wrong-value", "%s of %s is a function", "write %s={() => …}", a.Name, x.Name, a.Name)
	}
}

func number(text string) string {
	if digits := strings.TrimRight(text, "pxrem% "); digits != "" && strings.Trim(digits, "0123456789.-") == "" {
		return digits
	}
	return "…"
}

func (c *card) unknownProp(x library.Export, a tsx.Attribute) {
	var names []string
	for _, p := range x.Props {
		names = append(names, p.Name)
	}
	fix := "it has " + strings.Join(names, ", ")
	if near := library.Near(a.Name, names); len(near) > 0 {
		fix = "use " + strings.Join(near, " or ") + "; " + fix
	}
	c.wrong(a.At, "unknown-prop", "%s has no prop %.60q", "%s", x.Name, a.Name, fix)
}
