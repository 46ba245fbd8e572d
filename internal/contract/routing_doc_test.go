package contract

import (
	"os"
	"strings"
	"testing"
)

// The examples of docs/formats/routing.md are what this build sends.
func TestTheRoutingPageHasTheBytes(t *testing.T) {
	page, err := os.ReadFile("../../docs/formats/routing.md")
	if err != nil {
		t.Fatal(err)
	}
	c := parse(t, fixture(t))
	two := parse(t, strings.Replace(fixture(t), "min_probability = 0.0", "summaries = 2", 1))
	user := func(c *Contract, a Ask) string { return c.RoutePrompt(a)[1].Text() }
	for name, text := range map[string]string{
		"all":      c.RouteSystem(),
		"one":      c.RouteSystem("L1"),
		"request":  user(c, Ask{Request: "say \"hi\"\n<b>&é"}),
		"clipped":  user(c, Ask{Request: "x", Previous: &Previous{"L1", strings.Repeat("日", 11)}}),
		"imported": user(c, Ask{Request: "x\"\nRequest: \"L1", Previous: &Previous{"", "y\"\nL1"}}),
		"earlier": user(two, Ask{Request: "make it two", Previous: &Previous{"L1", "book it"},
			Earlier: []Previous{{"L0", "talked"}, {"L1", "booked it"}, {"", "answered"}}}),
	} {
		block := "\n\n    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n"
		if !strings.Contains(string(page), block) {
			t.Errorf("%s: the page has no block%s", name, block)
		}
	}
}
