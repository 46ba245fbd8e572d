package compile

import (
	"slices"
	"strings"

	"macaron/internal/ui4a/tsx"
)

// imported is one import or re-export.
type imported struct {
	at       int // the token of import or export
	module   string
	moduleAt int // the token of the module's name; -1 if the statement is no import as cards write it
	typeOnly bool
	names    []binding
}

// binding is one name of an import.
type binding struct {
	name  string // as the module exports it; default, * for the others
	local string
	at    int // the token of name
	only  bool
}

// export is the default export.
type export struct {
	at    int    // the token of default; -1 without one
	name  string // of what is exported, if it has one
	named int    // the token of that name
	from  int    // the first token of what is exported
}

// read finds what the module imports, declares and exports. Statements are told apart by
// their first words, at the top level of the module.
func (c *card) read() {
	c.top, c.declared, c.exported.at = map[string]int{}, map[string]bool{}, -1
	for i := 0; i < len(c.Tokens); i = c.Next(i) {
		if c.Tokens[i].Kind != tsx.Word || !c.statement(i) {
			continue
		}
		switch c.TextOf(i) {
		case "import":
			c.readImport(i)
		case "export":
			c.readExport(i)
		case "const", "let", "var", "function", "class", "enum":
			c.readDeclaration(i)
		case "async":
			c.readDeclaration(i + 1)
		}
	}
	c.findDeclared()
}

// statement says whether a token may begin a statement.
func (c *card) statement(i int) bool {
	return i == 0 || c.Is(i-1, ";") || c.Is(i-1, "}") || c.Is(i-1, "{") || c.Tokens[i].Newline && !c.Is(i-1, "=") && !c.Is(i-1, "(")
}

func (c *card) isString(i int) bool { return i < len(c.Tokens) && c.Tokens[i].Kind == tsx.String }

// unquoted is the text of a string token without its quotes; escapes stay.
func (c *card) unquoted(i int) string {
	text := c.TextOf(i)
	if len(text) < 2 {
		return ""
	}
	return text[1 : len(text)-1]
}

func (c *card) readImport(i int) {
	if c.Is(i+1, "(") || c.Is(i+1, ".") {
		return // an expression; rules tell of it
	}
	m := imported{at: i, moduleAt: -1}
	j := i + 1
	if c.Is(j, "type") && !c.Is(j+1, "from") && !c.Is(j+1, ",") {
		m.typeOnly = true
		j++
	}
	for ; j < len(c.Tokens) && !c.isString(j) && !c.Is(j, ";"); j = c.Next(j) {
		switch {
		case c.Is(j, "from") && c.isString(j+1), c.Is(j, ","):
		case c.Is(j, "="):
			return // import a = require(…)
		case c.Is(j, "*") && c.Is(j+1, "as"):
			m.names = append(m.names, binding{name: "*", local: c.TextOf(j + 2), at: j + 2})
			j += 2
		case c.Is(j, "{"):
			m.names = append(m.names, c.named(j)...)
		case c.Tokens[j].Kind == tsx.Word:
			m.names = append(m.names, binding{name: "default", local: c.TextOf(j), at: j})
		}
	}
	if c.isString(j) {
		m.moduleAt, m.module = j, c.unquoted(j)
	}
	c.imported = append(c.imported, m)
	for _, b := range m.names {
		c.top[b.local] = b.at
	}
}

// named reads { a, b as c, type d }.
func (c *card) named(open int) []binding {
	var list []binding
	for j := open + 1; j < len(c.Tokens) && !c.Is(j, "}"); j++ {
		if c.Tokens[j].Kind != tsx.Word && !c.isString(j) {
			continue
		}
		b := binding{}
		if c.Is(j, "type") && !c.Is(j+1, ",") && !c.Is(j+1, "}") && !c.Is(j+1, "as") {
			b.only = true
			j++
		}
		b.name, b.local, b.at = strings.Trim(c.TextOf(j), `"'`), c.TextOf(j), j
		if c.Is(j+1, "as") {
			b.local = c.TextOf(j + 2)
			j += 2
		}
		list = append(list, b)
	}
	return list
}

func (c *card) readExport(i int) {
	switch {
	case c.Is(i+1, "default"):
		c.exported = export{at: i + 1, from: i + 2}
		j := i + 2
		if c.Is(j, "async") {
			j++
		}
		switch {
		case c.Is(j, "function"), c.Is(j, "class"):
			c.readDeclaration(j)
			if j++; c.Is(j, "*") {
				j++
			}
			c.exported.name, c.exported.named = c.wordAt(j), j
		case c.Is(j+1, ";") || j+1 >= len(c.Tokens) || c.Tokens[j+1].Newline:
			c.exported.name, c.exported.named = c.wordAt(j), j
		}
	case c.Is(i+1, "{"):
		c.readExported(i)
	case c.Is(i+1, "*"):
		m := imported{at: i, moduleAt: -1}
		for j := i + 1; j < len(c.Tokens) && j < i+6; j++ {
			if c.isString(j) {
				m.moduleAt, m.module = j, c.unquoted(j)
			}
		}
		c.imported = append(c.imported, m)
	case c.Is(i+1, "async"):
		c.readDeclaration(i + 2)
	default:
		c.readDeclaration(i + 1)
	}
}

// readExported reads export { a as default } and export { a } from "m".
func (c *card) readExported(i int) {
	list := c.named(i + 1)
	if j := c.Next(i + 1); c.Is(j, "from") && c.isString(j+1) {
		c.imported = append(c.imported, imported{at: i, module: c.unquoted(j + 1), moduleAt: j + 1, names: list})
		list = slices.DeleteFunc(list, func(b binding) bool { return b.local != "default" })
	}
	for _, b := range list {
		if b.local == "default" {
			c.exported = export{at: b.at, name: b.name, named: b.at, from: b.at}
		}
	}
}

func (c *card) wordAt(i int) string {
	if i < len(c.Tokens) && c.Tokens[i].Kind == tsx.Word {
		return c.TextOf(i)
	}
	return ""
}

// readDeclaration takes the name that const, function, class or enum declares; of a
// pattern, all of its words.
func (c *card) readDeclaration(i int) {
	j := i + 1
	if c.Is(j, "*") || c.Is(i, "const") && c.Is(j, "enum") {
		j++
	}
	if name := c.wordAt(j); name != "" {
		if _, twice := c.top[name]; !twice {
			c.top[name] = j
		}
		return
	}
	for k := j + 1; k < c.Next(j)-1 && k < len(c.Tokens); k++ {
		if name := c.wordAt(k); name != "" {
			c.top[name] = k
		}
	}
}

// modules are the import names, sorted.
func (c *card) modules() []string {
	var list []string
	for _, m := range c.imported {
		if m.moduleAt >= 0 && !m.typeOnly {
			list = append(list, m.module)
		}
	}
	list = append(list, sortedKeys(c.added)...)
	slices.Sort(list)
	return slices.Compact(list)
}
