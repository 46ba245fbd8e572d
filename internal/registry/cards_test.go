package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A contract that takes in what a build knows of cards is kept written out: a build that
// knows more still reads what this one used.
func TestTaughtCardsAreKept(t *testing.T) {
	r := newRig(t)
	r.write(strings.Replace(r.text(), "description = \"talk\"\n", "description = \"talk\"\nprompt = \"{{ui4a}}\"\n", 1))
	reg, err := Open(r.home, r.contract, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	h := reg.now.Contract.Hash()
	kept, err := os.ReadFile(filepath.Join(r.home, "blobs", contracts, h.Hex()+".toml"))
	if err != nil || strings.Contains(string(kept), "{{ui4a}}") || !strings.Contains(string(kept), "ui4a/tsx") {
		t.Errorf("%v: %s", err, kept)
	}
	if again, err := reg.store.contract(h); err != nil || again.Hash() != h {
		t.Errorf("%v", err)
	}
}
