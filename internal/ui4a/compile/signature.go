package compile

import (
	"sort"
	"strings"

	"macaron/internal/ids"
	"macaron/internal/ui4a/tsx"
)

// function is a function with a name, or the default export.
type function struct {
	name        string
	first, last int // tokens of its body
}

// signatures gives the hook signature of each function of the module that calls hooks:
// which hooks in which order, and with what arguments, since state that was made from
// other arguments is not the state of this function. Functions within it count for it.
func (c *card) signatures() map[string]string {
	signatures := map[string]string{}
	for _, f := range c.functions() {
		var calls []string
		for i := f.first; i <= f.last; i++ {
			if c.isHookCall(i) {
				calls = append(calls, c.TextOf(i)+c.group(c.argumentsOf(i)))
			}
		}
		if len(calls) > 0 {
			signatures[f.name] = ids.DigestOf([]byte(strings.Join(calls, ";"))).Short()
		}
	}
	return signatures
}

// isHookCall says whether a word is a call of a hook: useX(…) or useX<T>(…).
func (c *card) isHookCall(i int) bool {
	name := c.wordAt(i)
	return len(name) > 3 && strings.HasPrefix(name, "use") && name[3] >= 'A' && name[3] <= 'Z' && c.Is(c.argumentsOf(i), "(")
}

// argumentsOf is the ( behind a called name and its type arguments.
func (c *card) argumentsOf(i int) int {
	i++
	if !c.Is(i, "<") {
		return i
	}
	for depth := 0; i < len(c.Tokens); i = c.Next(i) {
		switch c.TextOf(i) {
		case "<":
			depth++
		case ">", ">>", ">>>":
			if depth -= len(c.TextOf(i)); depth <= 0 {
				return i + 1
			}
		case ";":
			return i
		}
	}
	return i
}

// group is the text of a bracket and what it encloses, without white space and comments.
func (c *card) group(open int) string {
	var b strings.Builder
	for k := open; k < c.Next(open) && k < len(c.Tokens); k++ {
		b.WriteString(c.TextOf(k))
		b.WriteByte(' ')
	}
	return b.String()
}

// functions are those that the module's top level declares, in their order.
func (c *card) functions() []function {
	var list []function
	if e := c.exported; e.at >= 0 && e.name == "" {
		list = append(list, function{"default", e.from, c.statementEnd(e.from)})
	}
	for name, at := range c.top {
		if _, imported := c.importedName(name); imported || c.Tokens[at].Kind != tsx.Word {
			continue
		}
		f := function{name, at, c.statementEnd(at)}
		if name == c.exported.name {
			f.name = "default"
		}
		list = append(list, f)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].first < list[j].first })
	return list
}

// statementEnd is the last token of a statement of the top level that goes on at i.
func (c *card) statementEnd(i int) int {
	for j := i; j < len(c.Tokens); j = c.Next(j) {
		if j > i && (c.Is(j, ";") || c.Tokens[j].Newline && topWords[c.TextOf(j)] && c.Tokens[j].Kind == tsx.Word) {
			return j - 1
		}
	}
	return len(c.Tokens) - 1
}

// topWords begin statements of a module.
var topWords = words("import export const let var function class async type interface enum")

// keys are the declared keys of state: string literals as the first arguments of
// usePersistedState and usePrivateState, and names of PrivateField.
func (c *card) keys() []Key {
	found := map[string]bool{}
	for i := range c.Tokens {
		name := c.TextOf(i)
		if c.Tokens[i].Kind != tsx.Word || name != "usePersistedState" && name != "usePrivateState" {
			continue
		}
		if open := c.argumentsOf(i); c.Is(open, "(") && c.isString(open+1) {
			key := c.unquoted(open + 1)
			found[key] = found[key] || name == "usePrivateState"
		}
	}
	for _, e := range c.Elements {
		if a, ok := attribute(e, "name"); ok && e.Name == "PrivateField" && a.Value >= 0 && c.Tokens[a.Value].Kind == tsx.Value {
			found[c.unquoted(a.Value)] = true
		}
	}
	list := []Key{}
	for _, name := range sortedKeys(found) {
		list = append(list, Key{Name: name, NoAI: found[name]})
	}
	return list
}

// attribute finds an attribute of an element by name.
func attribute(e tsx.Element, name string) (tsx.Attribute, bool) {
	for _, a := range e.Attrs {
		if a.Name == name {
			return a, true
		}
	}
	return tsx.Attribute{}, false
}
