package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Declared is the text of a contract: that of a file, with another agent in the place of its own
// and every tool of the worlds declared, each for one call. Its adapters are named by whole paths.
func Declared(base, agent string) ([]byte, error) {
	raw, err := os.ReadFile(base)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(base))
	before, _, _ := strings.Cut(string(raw), "# How a run acts")
	text := strings.ReplaceAll(before, `"adapters/`, `"`+dir+`/adapters/`) + agent
	for _, w := range Worlds {
		for _, t := range w.Tools() {
			text += fmt.Sprintf("\n[[tools]]\nname = %q\nuse = \"world:%s\"\nmax_calls = 1\n", t.Name, t.Name)
		}
	}
	return []byte(text), err
}
