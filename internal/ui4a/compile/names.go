package compile

import (
	"slices"
	"strings"

	"macaron/internal/ui4a/library"
	"macaron/internal/ui4a/tsx"
)

// findDeclared collects every name that is declared anywhere: too many rather than too
// few, since what is not declared is told as a mistake.
func (c *card) findDeclared() {
	for n := range c.top {
		c.declared[n] = true
	}
	for i := range c.Tokens {
		if c.Tokens[i].Kind != tsx.Word {
			if c.Is(i, "(") && c.parameters(i) {
				c.declareWithin(i)
			}
			continue
		}
		switch {
		case c.Is(i+1, "=>"):
			c.declared[c.TextOf(i)] = true
		case declares[c.TextOf(i)]:
			c.declareFrom(i + 1)
		}
	}
}

var declares = words("const let var function class enum type interface")

// declareFrom takes the names of a declaration; of const and the like, all declarators.
func (c *card) declareFrom(i int) {
	if c.Is(i, "*") {
		i++
	}
	for i < len(c.Tokens) {
		if name := c.wordAt(i); name != "" {
			c.declared[name] = true
		} else {
			c.declareWithin(i)
		}
		for i = c.Next(i); i < len(c.Tokens) && !c.Is(i, ",") && !c.Is(i, ";") && !c.Tokens[i].Newline; i = c.Next(i) {
		}
		if !c.Is(i, ",") {
			return
		}
		i++
	}
}

// declareWithin takes all words of a pattern or of parameters.
func (c *card) declareWithin(open int) {
	for k := open + 1; k < c.Next(open) && k < len(c.Tokens); k++ {
		if name := c.wordAt(k); name != "" {
			c.declared[name] = true
		}
	}
}

// parameters says whether a ( opens parameters of a function.
func (c *card) parameters(i int) bool {
	after := c.Next(i)
	return c.Is(after, "=>") || c.Is(after, "{") || c.Is(after, ":") || c.Is(i-1, "function") || c.Is(i-2, "function")
}

// isUse says whether a word is read as a variable: no property, key, label or type.
func (c *card) isUse(i int) bool {
	if c.Tokens[i].Kind == tsx.Name {
		return true
	}
	if c.Tokens[i].Kind != tsx.Word || c.Is(i-1, ".") || c.Is(i-1, "?.") {
		return false
	}
	if c.Is(i+1, ":") && c.Groups[c.Tokens[i].Group].Kind == tsx.Object && (c.Is(i-1, "{") || c.Is(i-1, ",")) {
		return false // a key
	}
	return true
}

// root is the part of an element's name before its first dot.
func root(name string) string {
	name, _, _ = strings.Cut(name, ".")
	return name
}

// uses counts where a name is read, but for the token that binds it.
func (c *card) uses(name string, but int) int {
	n := 0
	for i := range c.Tokens {
		if i != but && c.isUse(i) && root(c.TextOf(i)) == name {
			n++
		}
	}
	return n
}

// implicit gives the module of a name that a card may use without importing it; ours says
// that it is the library's rather than React's.
func implicit(name string) (module string, ours bool) {
	if reactValues[name] && name != "use" && name != "act" && name != "cache" && name != "version" {
		return reactModule, false
	}
	for _, m := range library.Modules() {
		if e, ok := m.Export(name); ok && (e.Kind != library.Icon || !commonGlobals[name]) {
			return m.Name, true
		}
	}
	return "", false
}

// commonGlobals are icons that are also objects of every page.
var commonGlobals = words("Image Map Option Text Infinity Audio Lock Notification Comment Range Selection File Plugin Cache Key Table Math Number String Symbol Date Link History Navigation Screen")

// forgotten adds imports that the source needs and does not have. What is React's goes
// without saying.
func (c *card) forgotten() {
	c.added = map[string][]string{}
	seen := map[string]bool{}
	for i := range c.Tokens {
		name := root(c.TextOf(i))
		if !c.isUse(i) || seen[name] || name == "" {
			continue
		}
		element := c.Tokens[i].Kind == tsx.Name
		if _, there := c.top[name]; there || element && !isComponent(name) {
			continue
		}
		seen[name] = true
		module, ours := implicit(name)
		switch {
		case name == "React":
			c.addReact()
		case module == "" || ours && c.declared[name]:
			if element && !c.declared[name] {
				c.unknownComponent(i, name)
			}
			continue
		default:
			c.added[module] = append(c.added[module], name)
		}
		if ours && !c.partial {
			c.warn(i, "missing-import", "%s is used and not imported; it was taken from %s", "write import { %s } from %q", name, module, name, module)
		}
	}
	for _, names := range c.added {
		slices.Sort(names)
	}
}

// addReact imports React itself, as a namespace.
func (c *card) addReact() {
	c.added[reactModule] = append(c.added[reactModule], "default as React")
}

func (c *card) unknownComponent(i int, name string) {
	if c.partial {
		c.absent = append(c.absent, name)
		return
	}
	var names []string
	for _, m := range library.Modules() {
		for _, e := range m.Exports {
			if e.Kind != library.Function {
				names = append(names, e.Name)
			}
		}
	}
	fix := "write a function of this name, or HTML"
	if near := library.Near(name, names); len(near) > 0 {
		fix = "use " + strings.Join(near, " or ") + ", or write a function of this name"
	}
	c.fail(i, "unknown-component", "there is no component %.60q", "%s", name, fix)
}
