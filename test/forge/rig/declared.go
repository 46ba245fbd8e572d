package rig

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Declared is the text of a contract: that of a file, with another agent in the place of its own
// and every tool of the worlds declared, each for one call.
func Declared(base, agent string) ([]byte, error) {
	raw, err := os.ReadFile(base)
	before, _, _ := strings.Cut(string(raw), "# How a run acts")
	text := before + agent
	for _, w := range Worlds {
		for _, t := range w.Tools() {
			text += fmt.Sprintf("\n[[tools]]\nname = %q\nuse = \"world:%s\"\nmax_calls = 1\n", t.Name, t.Name)
		}
	}
	return []byte(text), err
}

// Placed is a declared contract for a file in another directory than the base's: its adapters are
// named by whole paths. The paths are in its hash, so what is compared between machines is the
// hash of what was declared.
func Placed(base string, declared []byte) ([]byte, error) {
	dir, err := filepath.Abs(filepath.Dir(base))
	return bytes.ReplaceAll(declared, []byte(`"adapters/`), []byte(`"`+dir+`/adapters/`)), err
}
