// Package exam runs UI4A-Bench: it gets an answer to each case, has it put on screen and
// used, scores it, and tells the result to people and programs.
package exam

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"macaron/internal/bench/ui4a"
	"macaron/internal/errs"
)

// Answer is what somebody answers to a case: a card, or a text, or a card within a text.
type Answer struct {
	Card    string  `json:"card"`
	Text    string  `json:"text"` // what stands around the card
	Prompt  int     `json:"prompt_tokens"`
	Output  int     `json:"output_tokens"`
	FirstMS float64 `json:"first_ms"` // until the first piece of the answer
	WallMS  float64 `json:"wall_ms"`
	Rounds  int     `json:"rounds"` // of repair
}

// Source gives answers.
type Source interface {
	Name() string
	Answer(ctx context.Context, c *ui4a.Case) (Answer, error)
}

// Repairer is a source that can mend its card by what was found in it.
type Repairer interface {
	Repair(ctx context.Context, c *ui4a.Case, a Answer, problems []string) (Answer, error)
}

// Reference answers with the hand-written cards and texts.
type Reference struct{}

// Name is what reports call it.
func (Reference) Name() string { return "reference" }

// Answer gives the case's own answer.
func (Reference) Answer(_ context.Context, c *ui4a.Case) (Answer, error) {
	return Answer{Card: c.Card, Text: c.Answer}, nil
}

// NullCard is a card that compiles and shows nothing.
const NullCard = "export default function Card() {\n  return null;\n}\n"

// Null answers everything with a card that shows nothing.
type Null struct{}

// Name is what reports call it.
func (Null) Name() string { return "null" }

// Answer gives NullCard.
func (Null) Answer(context.Context, *ui4a.Case) (Answer, error) { return Answer{Card: NullCard}, nil }

// Directory answers with files: NAME.tsx is a card, NAME.md a text; a case that has neither
// is answered with nothing.
type Directory struct{ Path string }

// Name is what reports call it.
func (d Directory) Name() string { return filepath.Base(filepath.Clean(d.Path)) }

// Answer reads the files of a case.
func (d Directory) Answer(_ context.Context, c *ui4a.Case) (Answer, error) {
	var a Answer
	for name, to := range map[string]*string{c.ID + ".tsx": &a.Card, c.ID + ".md": &a.Text} {
		b, err := os.ReadFile(filepath.Join(d.Path, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return a, errs.Wrap(errs.StorageFailed, err, name+" cannot be read", "")
		}
		*to = string(b)
	}
	return a, nil
}

// Fixed answers the cases that it has with given cards.
type Fixed struct {
	Label string
	Cards map[string]string // by case
}

// Name is what reports call it.
func (f Fixed) Name() string { return f.Label }

// Answer gives the case's card.
func (f Fixed) Answer(_ context.Context, c *ui4a.Case) (Answer, error) {
	return Answer{Card: f.Cards[c.ID]}, nil
}
