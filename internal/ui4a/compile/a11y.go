package compile

import (
	"regexp"
	"sort"
	"strings"

	"macaron/internal/ui4a/library"
	"macaron/internal/ui4a/tsx"
)

// naming are attributes that give an element a name.
var naming = []string{"aria-label", "aria-labelledby", "title", "children", "dangerouslySetInnerHTML"}

func hasAny(e tsx.Element, names ...string) bool {
	for _, name := range names {
		if _, ok := attribute(e, name); ok {
			return true
		}
	}
	return false
}

// unnamed tells of a button in which there is nothing to read: no text, nothing that may be
// one, and no label.
func (c *card) unnamed(e tsx.Element) {
	if c.spreads(e) || hasAny(e, naming...) || e.Name != "button" && hasAny(e, "label") || c.says(e) {
		return
	}
	fix := `write aria-label="…"`
	if e.Name != "button" {
		fix = `write label="…"`
	}
	c.warn(e.Start, "missing-name", "the button has no name for those who do not see it", "%s, or text in it", fix)
}

// says reports whether an element may have text in it: what is not known counts as text,
// icons and empty pictures do not.
func (c *card) says(e tsx.Element) bool {
	if e.Leaf || e.TagEnd < 0 || e.End < 0 {
		return e.End < 0
	}
	for i := e.TagEnd + 1; i < e.End; i++ {
		switch {
		case c.Tokens[i].Kind == tsx.Text && strings.TrimSpace(c.TextOf(i)) != "":
			return true
		case c.Is(i, "{") && c.Groups[c.Tokens[i].Group].Kind == tsx.Children && c.Next(i) > i+2:
			return true
		}
	}
	first := sort.Search(len(c.Elements), func(i int) bool { return c.Elements[i].Start > e.Start })
	for _, inner := range c.Elements[first:] {
		if inner.Start > e.End {
			return false
		}
		if hasAny(inner, "aria-label", "alt") || isComponent(inner.Name) && !c.isIcon(inner.Name) {
			return true
		}
	}
	return false
}

func (c *card) isIcon(name string) bool {
	x, ok := c.exportOf(name)
	return ok && x.Kind == library.Icon
}

// silentTypes are inputs that need no label.
var silentTypes = words("hidden submit reset button image")

// unlabelled tells of an input that nothing labels.
func (c *card) unlabelled(e tsx.Element) {
	if c.spreads(e) || hasAny(e, "aria-label", "aria-labelledby", "title", "placeholder") || c.labelAround(e) {
		return
	}
	if a, ok := attribute(e, "type"); ok {
		if kind := c.literal(a); kind == "" || silentTypes[strings.Trim(kind, `'"`)] {
			return
		}
	}
	if a, ok := attribute(e, "id"); ok && c.labelFor(c.literal(a)) {
		return
	}
	c.warn(e.Start, "missing-label", "nothing says what this <%s> is for", `write aria-label="…", put it into a <label>, or use Field, Select and the like of "$ui4a/ui"`, e.Name)
}

// labelAround reports whether an element stands in a label, or in a component of the card's
// own, which may be one.
func (c *card) labelAround(e tsx.Element) bool {
	for g := c.Tokens[e.Start].Group; g >= 0; g = c.Groups[g].Parent {
		n := c.Groups[g].Element
		if n < 0 {
			continue
		}
		name := c.Elements[n].Name
		if name == "label" {
			return true
		}
		if _, library := c.exportOf(name); isComponent(name) && !library && !strings.HasSuffix(name, "Fragment") {
			return true
		}
	}
	return false
}

// labelFor reports whether a label may name an id: a literal with its quotes, or "" of any.
func (c *card) labelFor(id string) bool {
	for _, e := range c.Elements {
		a, ok := attribute(e, "htmlFor")
		if !ok {
			continue
		}
		if to := c.literal(a); id == "" || to == "" || strings.Trim(to, `'"`) == strings.Trim(id, `'"`) {
			return true
		}
	}
	return false
}

var heading = regexp.MustCompile(`^h[1-6]$`)

// headings tells of the first heading of a level whose next higher one is nowhere, though
// one above that is. Titles of Card and Dialog are of the second level.
func (c *card) headings() {
	at := [7]int{}
	for _, e := range c.Elements {
		level := 0
		if heading.MatchString(e.Name) {
			level = int(e.Name[1] - '0')
		} else if x, ok := c.exportOf(e.Name); ok && (x.Name == "Card" || x.Name == "Dialog") && hasAny(e, "title") {
			level = 2
		}
		if level > 0 && at[level] == 0 {
			at[level] = e.Start + 1
		}
	}
	above := false
	for level := 1; level < 6; level++ {
		above = above || at[level] > 0
		if above && at[level] == 0 && at[level+1] > 0 {
			c.warn(at[level+1]-1, "heading-order", "<h%d> stands under no <h%d>", "write <h%d>; classes set its size", level+1, level, level)
			return
		}
	}
}

// legible is the least contrast of large text and of parts of controls (WCAG 2.2, 1.4.3):
// what is below it is too faint at any size.
const legible = 3

// contrast tells of a list of classes whose text cannot be read before its own ground, in
// the colours that cards have without a host's.
func (c *card) contrast(at int, list string) {
	text, ground := "", ""
	for name := range strings.FieldsSeq(list) {
		if t, ok := strings.CutPrefix(name, "text-"); ok && library.Token(t) != nil {
			text = t
		}
		if t, ok := strings.CutPrefix(name, "bg-"); ok && library.Token(t) != nil {
			ground = t
		}
	}
	if text == "" || ground == "" {
		return
	}
	if r := library.Contrast(text, ground); r < legible {
		fix := "use text-fg"
		if ground == "accent" {
			fix = "use text-accent-fg"
		}
		c.warn(at, "low-contrast", "text-%s before bg-%s has a contrast of %.1f to 1", "%s", text, ground, r, fix)
	}
}
