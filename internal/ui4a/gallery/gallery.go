// Package gallery holds a card for each component of the library, with the states that
// it has: for people who look at them, and for tests that do.
package gallery

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed cards/*.tsx
var files embed.FS

// Card is one card of the gallery.
type Card struct {
	Name   string // of its file, such as "button"
	Source string // TSX
}

// Cards gives all of them by name.
func Cards() []Card {
	entries, err := fs.ReadDir(files, "cards")
	if err != nil {
		panic(err) // the files are part of the program
	}
	var all []Card
	for _, e := range entries {
		text, err := fs.ReadFile(files, "cards/"+e.Name())
		if err != nil {
			panic(err)
		}
		all = append(all, Card{Name: strings.TrimSuffix(e.Name(), ".tsx"), Source: string(text)})
	}
	return all
}
