package filter

import (
	"regexp"
	"strings"
	"testing"
)

// Both halves are large, in several languages, and every kind that a line names is made.
func TestSetsAreWhole(t *testing.T) {
	for name, half := range map[string]func(int) ([]Text, error){"development": Development, "held out": HeldOut} {
		texts, err := half(10)
		if err != nil {
			t.Fatal(err)
		}
		types, langs, spans := map[string]int{}, map[string]int{}, 0
		for _, x := range texts {
			langs[x.Lang]++
			for _, s := range x.Spans {
				spans, types[s.Type] = spans+1, types[s.Type]+1
				if strings.ContainsAny(x.Text[s.From:s.To], "{}") {
					t.Errorf("%s: %q", x.Cluster, x.Text)
				}
			}
			if unmade.MatchString(x.Text) {
				t.Errorf("%s: %q names a kind that nobody makes", x.Cluster, x.Text)
			}
		}
		if spans < 400 || len(types) != 6 || len(langs) < 11 {
			t.Errorf("%s: %d spans, types %v, languages %v", name, spans, types, langs)
		}
		t.Log(name, len(texts), spans, types)
	}
}

var unmade = regexp.MustCompile(`[^$]\{[a-z0-9:]+\}`)
