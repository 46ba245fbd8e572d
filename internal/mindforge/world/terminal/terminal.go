// Package terminal is the world of files and commands: a workspace is drawn for each task,
// and what a run has left there is what is judged, or a word or number that stands in it.
// Tools of the world work on the workspace; a contract may declare those of the program
// (builtin:files.read, builtin:shell) instead.
package terminal

import (
	"maps"
	"slices"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/world"
)

// New makes the world.
func New() world.World {
	return world.New(world.Rules[*place]{
		Name: "terminal", Functions: functions, Families: families, Tails: tails, Formats: formats, Serial: true,
		Begin: func(string, int) *place { return &place{memory{}, &vocabulary{}} },
		Free:  written,
		Copy:  copied,
		Files: func(p *place) map[string]string { return p.disk.(memory) },
		At: func(workspace string, was *place) *place {
			return &place{rooted{workspace}, was.vocabulary}
		},
	})
}

// The kinds of what tasks come to.
const (
	number = "number"
	word   = "word"
	file   = "file" // a file that was written: the state is judged
	state  = "state"
)

var formats = map[string]string{
	number: "Answer with the number alone.", word: "Answer with the word alone.", file: "When it is done, answer done.", state: "When it is done, answer done.",
}

// place is a workspace with what the tools' arguments can be.
type place struct {
	disk disk
	*vocabulary
}

// vocabulary are the names of the files that there are or that the task makes, and the words
// that it speaks of. It is whole when the task is; the copies of a workspace share it.
type vocabulary struct{ names, words []string }

// disk is the files of a workspace. What is not there is an error.
type disk interface {
	list() ([]string, error)
	read(name string) (string, error)
	write(name, text string) error
	remove(name string) error
}

func copied(p *place) *place {
	files := memory{}
	for name, text := range p.disk.(memory) {
		files[name] = text
	}
	return &place{files, p.vocabulary}
}

// written is the workspace of a task that somebody wrote: what its solutions and its goal
// name can be named by tools.
func written(f world.Free) (*place, error) {
	p := &place{memory{}, &vocabulary{}}
	for _, name := range slices.Sorted(maps.Keys(f.Files)) {
		p.disk.(memory)[name] = f.Files[name]
		p.names = append(p.names, name)
	}
	p.names = append(p.names, slices.Sorted(maps.Keys(f.Goal.Files))...)
	for _, s := range append([]mindforge.Solution{f.Solution}, f.Failing...) {
		for _, c := range s.Calls {
			for _, arg := range slices.Sorted(maps.Keys(c.Args)) {
				if _, ref := world.Ref(c.Args[arg]); ref {
					continue
				}
				switch arg {
				case "file", "to":
					p.names = append(p.names, c.Args[arg])
				case "word", "old", "new":
					p.words = append(p.words, c.Args[arg])
				}
			}
		}
	}
	p.names, p.words = once(p.names), once(p.words)
	return p, nil
}

// once drops what was said before, and what is too long to be a name.
func once(all []string) []string {
	seen, out := map[string]bool{}, []string{}
	for _, s := range all {
		if !seen[s] && s != "" && len(s) <= 100 && len(out) < 64 {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
