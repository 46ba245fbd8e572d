package filter

import (
	"testing"
	"unicode/utf8"
)

// What is found lies in order inside the text, on characters' ends, and is gone when it was
// scrubbed.
func FuzzFind(f *testing.F) {
	for _, s := range []string{"a@b.de", "+49 30 901820", "DE89 3704 0044 0532 0130 00", "4242 4242 4242 4242", "8.8.8.8 2001:4860::8888", "password: Tr0ub4dor&3x", "sk-" + "aB3dE6gH9jK2mN5pQ8sT1vW4", "::::", "00000000000000000000", "日本+81 90-1234-5678日本"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		last := 0
		for _, x := range Find(text, Types) {
			if x.From < last || x.To <= x.From || x.To > len(text) {
				t.Fatalf("%+v of %q", x, text)
			}
			last = x.To
		}
		if s := newScrubber(Types).scrub(text); !utf8.ValidString(s) {
			t.Fatalf("%q became %q", text, s)
		}
	})
}
