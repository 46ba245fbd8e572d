package responses

import "unicode"

// cutter divides a text into the pieces of its delta events. Where it cuts depends on
// the text alone, never on how the engine delivered it, so that the events of a finished
// response can be told again from the log with equal numbers. A piece ends before a space
// that follows a word, after a character of a script without spaces, and at pieceBytes.
type cutter struct {
	held  []rune
	bytes int
	word  bool // held has something else than space at its end
}

const (
	pieceBytes = 24
	unspaced   = 0x2E80 // from here on: CJK and what comes after it
)

// add takes more of the text and calls piece for what is complete.
func (c *cutter) add(text string, piece func(string) error) error {
	for _, r := range text {
		if unicode.IsSpace(r) && c.word {
			if err := c.flush(piece); err != nil {
				return err
			}
		}
		c.held, c.bytes, c.word = append(c.held, r), c.bytes+len(string(r)), !unicode.IsSpace(r)
		if r >= unspaced || c.bytes >= pieceBytes {
			if err := c.flush(piece); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush gives out what is held.
func (c *cutter) flush(piece func(string) error) error {
	if len(c.held) == 0 {
		return nil
	}
	s := string(c.held)
	c.held, c.bytes, c.word = c.held[:0], 0, false
	return piece(s)
}
