package openai

import (
	"os"
	"strings"
	"testing"

	"macaron/internal/errs"
)

// docs/formats/chat.md names every field that is known and every code that a client
// can see with its status.
func TestThePageTellsOfEveryField(t *testing.T) {
	text, err := os.ReadFile("../../../docs/formats/chat.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for name := range fields {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("the page does not tell of %s", name)
		}
	}
	for _, c := range errs.Codes() {
		if i := strings.Index(page, "`"+string(c)+"`"); i >= 0 && strings.Contains(page[:i], "## Errors") {
			line, _, _ := strings.Cut(page[i:], "\n")
			if !strings.Contains(line, " "+status(c)+" ") {
				t.Errorf("%s has the status %s, the page says %q", c, status(c), line)
			}
		}
	}
}

func status(c errs.Code) string {
	n := c.Status()
	return string([]byte{byte('0' + n/100), byte('0' + n/10%10), byte('0' + n%10)})
}
