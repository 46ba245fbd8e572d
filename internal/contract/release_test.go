package contract

import (
	"strings"
	"testing"

	"macaron/internal/ids"
)

// Each of the three clocks moves the name of a release; the order of specialists does not.
func TestReleaseNamesThreeParts(t *testing.T) {
	c := parse(t, full(t))
	a, b := Specialist{"L0", ids.DigestOf([]byte("a"))}, Specialist{"L1", ids.DigestOf([]byte("b"))}
	name := func(c *Contract, base string, s ...Specialist) ids.Digest {
		t.Helper()
		_, h, err := NewRelease(c, base, s)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	first := name(c, "", a, b)
	if name(c, "", b, a) != first {
		t.Error("the order counts")
	}
	other := parse(t, strings.Replace(full(t), "max_turns = 12", "max_turns = 13", 1))
	for what, h := range map[string]ids.Digest{"base": name(c, "sha256:x", a, b), "specialist": name(c, "", a, Specialist{"L1", a.Revision}), "harness": name(other, "", a, b)} {
		if h == first {
			t.Errorf("another %s has the same name", what)
		}
	}
}
