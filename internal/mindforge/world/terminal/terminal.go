// Package terminal is the world of files and commands: a workspace is drawn for each task,
// and what a run has left there is what is judged, or a word or number that stands in it.
// Tools of the world work on the workspace; a contract may declare those of the program
// (builtin:files.read, builtin:shell) instead.
package terminal

import (
	"macaron/internal/mindforge/world"
)

// New makes the world.
func New() world.World {
	return world.New(world.Rules[*place]{
		Name: "terminal", Functions: functions, Families: families, Tails: tails, Formats: formats, Serial: true,
		Begin: func(string, int) *place { return &place{memory{}, &vocabulary{}} },
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
