package token

import (
	"unicode/utf8"
)

// wordPieces are the pieces of a WordPiece vocabulary: those that start a word and
// those that continue one, by their text without the mark of either.
type wordPieces struct {
	starts, continues map[string]int32
	maxRunes          int // of a word; a longer one is unknown
	prefix            string
	cleanup           bool
}

// maxWordRunes is BERT's bound, which files may change, up to maxWordLimit.
const (
	maxWordRunes = 100
	maxWordLimit = 1000
)

func newWordPieces(n int) wordPieces {
	return wordPieces{starts: make(map[string]int32, n), continues: map[string]int32{}, maxRunes: maxWordRunes, prefix: "##", cleanup: true}
}

// wordPieces appends the pieces of a word: always the longest that the rest starts
// with. A word with a rest that no piece starts is the unknown token as a whole.
func (t *Tokenizer) wordPieces(out []int32, w string) []int32 {
	start := len(out)
	if utf8.RuneCountInString(w) <= t.pieces.maxRunes {
		from := t.pieces.starts
		for w != "" {
			id, n := longestPiece(from, w, t.longest)
			if n == 0 {
				break
			}
			out = append(out, id)
			w = w[n:]
			from = t.pieces.continues
		}
		if w == "" {
			return out
		}
	}
	out = out[:start]
	if t.unk >= 0 {
		out = append(out, t.unk)
	}
	return out
}

// longestPiece finds the longest piece that w starts with; n is 0 if there is none.
func longestPiece(from map[string]int32, w string, longest int) (id int32, n int) {
	for n = min(len(w), longest); n > 0; n-- {
		if n < len(w) && !utf8.RuneStart(w[n]) {
			continue
		}
		if id, ok := from[w[:n]]; ok {
			return id, n
		}
	}
	return 0, 0
}
