package compile

import (
	"regexp"
	"strings"

	"macaron/internal/ui4a/tsx"
)

// refused are HTML elements that a card may not have.
var refused = words("script link iframe frame frameset object embed base meta portal applet")

// element looks at one element: of HTML, or of the library.
func (c *card) element(e tsx.Element) {
	if e.Name == "" {
		return
	}
	if isComponent(e.Name) {
		c.component(e)
		return
	}
	if refused[e.Name] {
		c.wrong(e.Start, "forbidden-element", "a card cannot have <%s>", "leave it out", e.Name)
	}
	for _, a := range e.Attrs {
		c.attribute(e, a)
		if a.Name == "className" {
			c.classes(a)
		}
	}
	c.control(e)
}

// htmlNames are attributes under their names in HTML, and as React wants them.
var htmlNames = map[string]string{"class": "className", "for": "htmlFor", "tabindex": "tabIndex", "maxlength": "maxLength", "readonly": "readOnly", "colspan": "colSpan", "rowspan": "rowSpan", "srcset": "srcSet", "autofocus": "autoFocus"}

var (
	handler = regexp.MustCompile(`^on[a-z]+$`)
	loads   = words("src srcSet poster data background")
	outside = regexp.MustCompile(`^['"]\s*(?:[a-zA-Z][a-zA-Z0-9+.-]*:|//)`)
	inside  = regexp.MustCompile(`(?i)^['"]\s*(?:data|blob|asset|mailto|tel):`)
	scheme  = regexp.MustCompile(`(?i)^['"]\s*javascript:`)
)

// attribute looks at an attribute of HTML.
func (c *card) attribute(e tsx.Element, a tsx.Attribute) {
	value := c.literal(a)
	switch {
	case handler.MatchString(a.Name):
		c.wrong(a.At, "event-name", "%s does nothing in React", "write on%s…={() => …}, with capital letters", a.Name, strings.ToUpper(a.Name[2:3]))
	case htmlNames[a.Name] != "" && !strings.Contains(e.Name, "-"):
		c.warn(a.At, "attribute-name", "React's name for %s is another", "write %s", a.Name, htmlNames[a.Name])
	case a.Name == "style" && value != "":
		c.wrong(a.At, "style-text", "style is an object in React; a text makes it fail", "write style={{ color: \"var(--accent)\" }}, or a class")
	case scheme.MatchString(value):
		c.wrong(a.At, "forbidden-api", "javascript: is not run", "write onClick={() => …}")
	case loads[a.Name] && outside.MatchString(value) && !inside.MatchString(value):
		c.wrong(a.At, "remote-url", "nothing is loaded from other computers", "leave it out, or draw it as SVG")
	case (a.Name == "href" || a.Name == "action") && outside.MatchString(value) && !inside.MatchString(value):
		c.warn(a.At, "remote-url", "a card cannot lead elsewhere: the link does nothing", "show the address as text, or ask with sendMessage")
	}
}

// literal is an attribute's string with its quotes, alone or in { }; "" of others.
func (c *card) literal(a tsx.Attribute) string {
	switch {
	case a.Value < 0 || a.Spread:
		return ""
	case c.Tokens[a.Value].Kind == tsx.Value:
		return c.TextOf(a.Value)
	case c.isString(a.Value+1) && c.Is(a.Value+2, "}"):
		return c.TextOf(a.Value + 1)
	}
	return ""
}

// control looks for controls that do nothing, and pictures that say nothing.
func (c *card) control(e tsx.Element) {
	if c.spreads(e) {
		return
	}
	has := func(name string) bool { _, ok := attribute(e, name); return ok }
	switch e.Name {
	case "img":
		if !has("alt") {
			c.warn(e.Start, "missing-alt", "the picture has no text for those who do not see it", "write alt=\"…\", or alt=\"\" if it says nothing")
		}
	case "button":
		c.pressable(e)
		c.unnamed(e)
	case "input", "select", "textarea":
		c.unlabelled(e)
		if (has("value") || has("checked")) && !has("onChange") && !has("onInput") && !has("readOnly") && !has("disabled") {
			c.warn(e.Start, "dead-control", "what is typed here is put back at once: value without onChange", "add onChange, or use defaultValue")
		}
	}
}

func (c *card) spreads(e tsx.Element) bool {
	for _, a := range e.Attrs {
		if a.Spread {
			return true
		}
	}
	return false
}

// pressable tells of a button that does nothing when it is pressed.
func (c *card) pressable(e tsx.Element) {
	if c.spreads(e) || c.within(e, "Dialog") {
		return
	}
	if c.within(e, "form") || c.within(e, "Form") {
		if _, typed := attribute(e, "type"); typed || e.Name != "Button" { // Button is of type button
			return
		}
	}
	for _, name := range []string{"onClick", "onPointerDown", "onMouseDown", "onPointerUp", "onKeyDown", "disabled", "popoverTarget", "command", "commandfor"} {
		if _, ok := attribute(e, name); ok {
			return
		}
	}
	if c.holds(e) {
		c.warn(e.Start, "dead-control", "the button does nothing", "add onClick={() => …}, in a form type=\"submit\", or leave the button out")
	}
}

// holds says that an element is not the value of an attribute, whose owner may make it
// work.
func (c *card) holds(e tsx.Element) bool {
	for g := c.Tokens[e.Start].Group; g >= 0; g = c.Groups[g].Parent {
		if c.Groups[g].Kind == tsx.OpenTag {
			return false
		}
	}
	return true
}

// within says whether an element stands anywhere in one of a name.
func (c *card) within(e tsx.Element, name string) bool {
	for g := c.Tokens[e.Start].Group; g >= 0; g = c.Groups[g].Parent {
		if n := c.Groups[g].Element; n >= 0 && c.Elements[n].Name == name {
			return true
		}
	}
	return false
}
