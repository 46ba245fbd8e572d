package library

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNearestNamesComeFirst(t *testing.T) {
	names := []string{"Button", "Badge", "Stack", "Slider", "Select", "Chart", "ShoppingCart"}
	for name, want := range map[string][]string{
		"Buton": {"Button"}, "button": {"Button"}, "Stakc": {"Stack"}, "Cart": {"Chart", "ShoppingCart"},
		"Fieldset": {}, "": {}, "Slide": {"Slider"}, strings.Repeat("x", 65): nil,
	} {
		if d := cmp.Diff(want, Near(name, names)); d != "" {
			t.Errorf("%q: %s", name, d)
		}
	}
	if got := Near("Hart", []string{"BarChart", "BarChart3", "Heart"}); len(got) == 0 || got[0] != "Heart" {
		t.Errorf("one edit comes before a name that contains it: %v", got)
	}
	if got := Near("a", []string{"d", "b", "c", "e"}); len(got) != 3 || got[0] != "b" {
		t.Errorf("at most three, in order: %v", got)
	}
}
