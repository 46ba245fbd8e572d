package anthropic

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"macaron/internal/errs"
)

// docs/formats/messages.md names every field that is known, and every code that it names
// stands in the line of its type and status.
func TestThePageTellsOfEveryField(t *testing.T) {
	text, err := os.ReadFile("../../../docs/formats/messages.md")
	if err != nil {
		t.Fatal(err)
	}
	page, table, found := strings.Cut(string(text), "## Errors")
	if !found {
		t.Fatal("the page has no errors")
	}
	for name := range fields {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("the page does not tell of %s", name)
		}
	}
	for _, c := range errs.Codes() {
		if i := strings.Index(table, "`"+string(c)+"`"); i >= 0 {
			line := table[strings.LastIndex(table[:i], "\n")+1 : i]
			if !strings.Contains(line, "| `"+errorType(c)+"` | "+strconv.Itoa(status(c))+" |") {
				t.Errorf("%s has the type %s and the status %d, the page says %q", c, errorType(c), status(c), line)
			}
		}
	}
}
