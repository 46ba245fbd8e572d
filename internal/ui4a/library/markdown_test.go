package library_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/ui4a/library"
)

const document = "../../../docs/formats/ui4a-library.md"

// The document's tables are those of the library.
func TestDocumentHasTheTable(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- begin: go test ./internal/ui4a/library -update -->\n", "<!-- end -->\n"
	head, rest, found := strings.Cut(string(text), begin)
	_, tail, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("the document has no place for the tables")
	}
	want := head + begin + tables() + end + tail
	if *update {
		if err := os.WriteFile(document, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(want, string(text)); d != "" {
		t.Errorf("go test ./internal/ui4a/library -update writes the tables again:\n%s", d)
	}
}

func tables() string {
	var b strings.Builder
	for _, m := range library.Modules() {
		fmt.Fprintf(&b, "## %s\n%s.\n\n", m.Name, m.Doc)
		if m.Exports[0].Kind == library.Icon || m.Exports[0].Kind == library.Foreign {
			var names []string
			for _, e := range m.Exports {
				names = append(names, "`"+e.Name+"`")
			}
			fmt.Fprintf(&b, "%s\n\n", strings.Join(names, " "))
			continue
		}
		b.WriteString("| export | what | props |\n|---|---|---|\n")
		for _, e := range m.Exports {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", e.Name, e.Doc, detail(e))
		}
		b.WriteString("\n")
	}
	b.WriteString("## Utility classes\n\n| what | classes |\n|---|---|\n")
	for _, c := range library.Classes() {
		fmt.Fprintf(&b, "| %s | %s |\n", c.Doc, strings.Join(c.Names, " "))
	}
	return b.String()
}

func detail(e library.Export) string {
	if e.Kind == library.Function {
		return "`" + strings.ReplaceAll(e.Name+e.Signature, "|", `\|`) + "`"
	}
	var all []string
	for _, p := range e.Props {
		s := "`" + p.Name + "`"
		if p.Required {
			s = "**" + s + "**"
		}
		switch {
		case len(p.Values) > 0:
			s += " (" + strings.Join(p.Values, ", ") + ")"
		case p.Doc != "":
			s += " (" + strings.ReplaceAll(p.Doc, "|", `\|`) + ")"
		}
		all = append(all, s)
	}
	return strings.Join(all, ", ")
}
