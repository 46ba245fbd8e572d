package ledger

import (
	"strings"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

// A text of any length comes back as it was, from texts of which none is longer than one may be, and
// none of which is cut within a character. One that was changed is found out.
func TestTextsAreKeptInParts(t *testing.T) {
	for _, text := range []string{"[]", "[" + strings.Repeat("a", 998) + "]", "[" + strings.Repeat("\u2603", 3000) + "]"} {
		all, err := Parts(text, 1000)
		if err != nil {
			t.Fatal(err)
		}
		kept := map[ids.Digest]string{}
		for _, x := range all {
			if len(x.Text) > 1000 || !strings.HasPrefix(x.Text, begins) && strings.ToValidUTF8(x.Text, "") != x.Text {
				t.Errorf("a part of %d bytes", len(x.Text))
			}
			kept[x.Name] = x.Text
		}
		read := func(h ids.Digest) (string, error) { return kept[h], nil }
		if got, err := Whole(all[0].Name, read); err != nil || got != text {
			t.Errorf("%d bytes came back as %d: %v", len(text), len(got), err)
		}
		kept[all[len(all)-1].Name] += " "
		if _, err := Whole(all[0].Name, read); errs.CodeOf(err) != errs.ChecksumMismatch {
			t.Errorf("a changed part was read: %v", err)
		}
	}
}
