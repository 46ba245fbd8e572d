package compile

import (
	"regexp"
	"strings"
	"sync"

	"macaron/internal/ui4a/library"
	"macaron/internal/ui4a/tsx"
)

// utility are the classes of the stylesheet.
var utility = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, family := range library.Classes() {
		for _, n := range family.Names {
			names[n] = true
		}
	}
	return names
})

var classRule = regexp.MustCompile(`\.(-?[A-Za-z_][\w-]*)`)

// own are those that the card's own style elements and texts define.
func (c *card) own() map[string]bool {
	if c.styled != nil {
		return c.styled
	}
	own := map[string]bool{}
	c.styled = own
	for _, e := range c.Elements {
		if e.Name != "style" || e.End < 0 {
			continue
		}
		for _, m := range classRule.FindAllStringSubmatch(c.Text[c.Tokens[e.Start].Start:c.Tokens[e.End].End], -1) {
			own[m[1]] = true
		}
	}
	return own
}

// classes looks for class names that no stylesheet has.
func (c *card) classes(a tsx.Attribute) {
	if a.Value < 0 || len(utility()) == 0 {
		return
	}
	if c.Tokens[a.Value].Kind == tsx.Value {
		c.classList(a.Value, c.unquoted(a.Value))
		return
	}
	for i := a.Value + 1; i < c.Next(a.Value)-1; i++ {
		switch c.Tokens[i].Kind {
		case tsx.String:
			if !c.compared(i) {
				c.classList(i, c.unquoted(i))
			}
		case tsx.Template:
			c.classList(i, c.wholeWords(i))
		}
	}
}

// compared says that a string is compared, looked up or a key, and so no class.
func (c *card) compared(i int) bool {
	for _, j := range []int{i - 1, i + 1} {
		switch c.TextOf(j) {
		case "===", "==", "!==", "!=", "case", "in":
			return true
		}
	}
	k := c.Groups[c.Tokens[i].Group].Kind
	return k == tsx.Bracket || k == tsx.Object || k == tsx.Paren && !c.Is(i-1, "?") && !c.Is(i-1, ":") && !c.Is(i-1, "&&") && !c.Is(i-1, "||") && !c.Is(i-1, "??")
}

// wholeWords drops the words of a template's piece that an expression goes on with.
func (c *card) wholeWords(i int) string {
	text := strings.Trim(c.TextOf(i), "`")
	if c.Is(i-1, "}") {
		if k := strings.IndexAny(text, " \t\n"); k >= 0 {
			text = text[k:]
		} else {
			return ""
		}
	}
	if c.Is(i+1, "${") {
		text = text[:strings.LastIndexAny(text, " \t\n")+1]
	}
	return text
}

func (c *card) classList(at int, list string) {
	c.contrast(at, list)
	for name := range strings.FieldsSeq(list) {
		if utility()[name] || c.own()[name] || c.enough() {
			continue
		}
		fix := "see the list of classes, or use style={{ … }}"
		if near := library.Near(name, sortedKeys(utility())); len(near) > 0 {
			fix = "use " + strings.Join(near, " or ") + ", or style={{ … }}"
		}
		c.warn(at, "unknown-class", "there is no class %.60q", "%s", name, fix)
	}
}
