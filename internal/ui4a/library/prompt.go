package library

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

//go:embed prompt.txt
var template string

// tokens are the host's colours, which classes name.
const tokens = "surface surface-2 surface-3 border fg muted accent accent-fg danger success warn series-1 to series-6"

// samples are the icons that the prompt names; models know the others from lucide.
const samples = "Calendar Check ChevronRight Clock Heart Info MapPin Minus Plus Search Star Trash TrendingUp User X"

// Prompt is the text that teaches a model to write cards. Modules, components and props
// in it come from the table.
var Prompt = sync.OnceValue(func() string {
	var lines []string
	for _, m := range Modules() {
		lines = append(lines, taught(m)...)
	}
	return strings.NewReplacer("{{tokens}}", tokens, "{{modules}}", strings.Join(lines, "\n")).Replace(strings.TrimSpace(template))
})

// taught has a line for a module, and one for each of its components and functions.
func taught(m Module) []string {
	switch {
	case m.Name == "react":
		return nil // its hooks need no import
	case m.Exports[0].Kind == Icon:
		return []string{fmt.Sprintf("%s: lucide's icons by name, such as %s; size, label", m.Name, strings.ReplaceAll(samples, " ", ", "))}
	}
	lines := []string{m.Name}
	for _, e := range m.Exports {
		switch e.Kind {
		case Component:
			lines = append(lines, strings.TrimSpace("- "+e.Name+": "+props(e)))
		case Function:
			lines = append(lines, "- "+e.Name+short(e.Signature))
		}
	}
	return lines
}

// props writes a component's props: a star where one is required, its values, what a
// function is called with. className, which all boxes have, is told once elsewhere.
func props(e Export) string {
	var words []string
	for _, p := range e.Props {
		if p.Name == "className" {
			continue
		}
		word := p.Name
		if p.Required {
			word += "*"
		}
		switch {
		case len(p.Values) > 0:
			word += "=" + strings.Join(p.Values, "|")
		case strings.HasSuffix(p.Type, "=> void"):
			word += called(p.Type)
		case strings.HasSuffix(p.Type, "[]") || strings.Contains(p.Type, "=>"):
			word += " (" + p.Doc + ")"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

var parameter = regexp.MustCompile(`(\w+)\??: `)

// called gives the names of a function's parameters.
func called(typ string) string {
	var names []string
	head, _, _ := strings.Cut(typ, ") =>")
	for _, m := range parameter.FindAllStringSubmatch(head, -1) {
		names = append(names, m[1])
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// short leaves out of a signature what a caller need not know: type parameters, the result
// of what is called for its effect.
func short(signature string) string {
	s := regexp.MustCompile(`^<[^(]*>`).ReplaceAllString(signature, "")
	s = strings.ReplaceAll(strings.TrimSuffix(s, ": Promise<Receipt>"), " | (() => T)", "")
	return regexp.MustCompile(`: \[T, Set<T>\]$`).ReplaceAllString(s, ", as useState")
}
