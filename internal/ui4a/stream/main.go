package stream

import (
	"strings"

	"macaron/internal/ui4a/tsx"
)

// component is the statement that declares what the card draws.
type component struct {
	first int    // its first token
	body  int    // the group of its braces; -1 of an arrow function without them
	name  string // what is to be exported, where the source has not come to that
	done  bool   // another statement has begun behind it, or it is closed
	last  int    // the first token of the last statement of the module
}

func (m component) export() string {
	if m.name == "" {
		return ""
	}
	return "export default " + m.name + ";\n"
}

var statements = map[string]bool{"import": true, "export": true, "const": true, "let": true, "var": true, "function": true, "async": true, "class": true, "type": true, "interface": true, "enum": true}

// main finds the component that is exported, or, before the source has come to the
// export, the last that looks like one: a capital letter, no parameters.
func (c closer) main() (component, bool) {
	m, found, last := component{}, false, -1
	for i := 0; i < len(c.Tokens); i = c.Next(i) {
		if c.Tokens[i].Kind != tsx.Word || !statements[c.TextOf(i)] || !c.begins(i) {
			continue
		}
		last = i
		if c.Is(i, "export") && c.Is(i+1, "default") && !c.declaresNothing(i+2) {
			m, found = c.component(i, i+2), true
			m.name = ""
			break
		}
		if n, ok := c.named(i); ok {
			m, found = n, true
		}
	}
	if !found || m.body < 0 && m.first < 0 {
		return m, false
	}
	for i := max(last, 0); i < len(c.Tokens); i = c.Next(i) {
		if c.Tokens[i].Kind == tsx.Word && statements[c.TextOf(i)] && c.begins(i) && (i == 0 || !c.Is(i-1, "export")) {
			last = i
		}
	}
	m.last = last
	m.done = last > m.first || m.body >= 0 && c.Groups[m.body].Close >= 0
	return m, true
}

// begins says whether a word may begin a statement of the module.
func (c closer) begins(i int) bool {
	return i == 0 || c.Tokens[i].Newline || c.Is(i-1, ";") || c.Is(i-1, "}")
}

// declaresNothing says that export default is followed by a mere name, or by nothing.
func (c closer) declaresNothing(i int) bool {
	return i >= len(c.Tokens) || c.Tokens[i].Kind == tsx.Word && !c.Is(i, "function") && !c.Is(i, "async") && !c.Is(i+1, "=>") && !c.Is(i+1, "(")
}

// named reads function Name() and const Name = () => where Name has a capital letter.
func (c closer) named(i int) (component, bool) {
	j := i
	for c.Is(j, "export") || c.Is(j, "async") {
		j++
	}
	name := c.TextOf(j + 1)
	if name == "" || name[0] < 'A' || name[0] > 'Z' || !c.Is(j, "function") && !c.Is(j, "const") {
		return component{}, false
	}
	open := j + 2
	if c.Is(j, "const") && c.Is(open, "=") {
		open++
	}
	if !c.Is(open, "(") || !c.Is(open+1, ")") || c.Is(j, "const") && !c.Is(open+2, "=>") {
		return component{}, false
	}
	m := c.component(i, j)
	m.name = name
	return m, true
}

// component reads the function that begins at from; its body is the first { } that stands
// directly in the module behind the parameters.
func (c closer) component(first, from int) component {
	m := component{first: first, body: -1}
	for i := from; i < len(c.Tokens); i = c.Next(i) {
		if i > from && c.Tokens[i].Kind == tsx.Word && statements[c.TextOf(i)] && c.Tokens[i].Newline {
			return m
		}
		if g := c.opened(i); g >= 0 && c.Groups[g].Kind == tsx.Block && (c.Is(i-1, "=>") || c.Is(i-1, ")")) {
			m.body = g
			return m
		}
	}
	return m
}

// opened is the group that a token opens, or -1.
func (c closer) opened(token int) int {
	for g := range c.Groups {
		if c.Groups[g].Open == token {
			return g
		}
	}
	return -1
}

// withoutHalf drops a last statement that is only begun; the card does not need it to be
// drawn, or shows it when it has come.
func (c closer) withoutHalf(m component) string {
	end := len(c.Text)
	whole := c.End == tsx.Between && len(c.Open) == 1 && (c.Is(len(c.Tokens)-1, "}") || c.Is(len(c.Tokens)-1, ";"))
	if !whole && m.last > m.first {
		end = c.Tokens[m.last].Start
	} else if !whole && m.body >= 0 && c.Groups[m.body].Close >= 0 {
		end = c.Tokens[c.Groups[m.body].Close].End
	}
	export := m.export()
	if strings.Contains(c.Text[:end], "export default "+m.name) && m.name != "" {
		export = "" // it has come
	}
	return c.Text[:end] + "\n" + export
}
