package world

import (
	"fmt"
	"strings"

	"macaron/internal/bench"
)

// Goal is the verifier of a task as data: what the answer must be, and what the files.
type Goal struct {
	Asked  bool              `json:"asked"` // the answer is judged
	Answer string            `json:"answer,omitempty"`
	Files  map[string]string `json:"files,omitempty"` // that must be there with this content; no others are looked at
	Gone   []string          `json:"gone,omitempty"`  // that must not be there
}

// maxAnswer bounds what is compared.
const maxAnswer = 1 << 16

// Judge compares. Of an answer white space at both ends and the form of line ends are left
// out, of a file's content one line end at its end; nothing else.
func (g Goal) Judge(answer string, files map[string]string) bench.Score {
	if g.Asked {
		switch got := plain(answer); {
		case got == "":
			return bench.Score{Note: "no answer"}
		case len(answer) > maxAnswer || got != plain(g.Answer):
			return bench.Score{Note: "another answer"}
		}
	}
	for _, name := range sorted(g.Files) {
		got, ok := files[name]
		switch {
		case !ok:
			return bench.Score{Note: "there is no file " + name}
		case ending(got) != ending(g.Files[name]):
			return bench.Score{Note: "the file " + name + " has another content"}
		}
	}
	for _, name := range g.Gone {
		if _, ok := files[name]; ok {
			return bench.Score{Note: fmt.Sprintf("the file %s is still there", name)}
		}
	}
	return bench.Score{Points: 1}
}

// Empty reports whether nothing is judged: such a verifier passes always.
func (g Goal) Empty() bool { return !g.Asked && len(g.Files) == 0 && len(g.Gone) == 0 }

func plain(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }

func ending(s string) string { return strings.TrimSuffix(s, "\n") }
