package errs

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestClipKeepsWholeRunes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		got := Clip(s)
		head, cut := strings.CutSuffix(got, "...")
		switch {
		case len(s) <= clipped && got != s:
			t.Fatalf("%q became %q", s, got)
		case len(s) > clipped && (!cut || !strings.HasPrefix(s, head) || len(head) <= clipped-utf8.UTFMax):
			t.Fatalf("%q became %q", s, got)
		}
	})
	if got := Clip(strings.Repeat("a", clipped-1) + "ü"); got != strings.Repeat("a", clipped-1)+"..." {
		t.Errorf("a rune was cut: %q", got)
	}
}
