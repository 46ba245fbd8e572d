package token

import (
	"macaron/internal/errs"
)

// maxVocab bounds the number of tokens; the largest known vocabulary has 262,144.
const maxVocab = 1 << 20

// lexicon is the list of tokens: what each decodes to, its kind, and the spelling by
// which merging finds it.
type lexicon struct {
	blob  []byte
	ends  []uint32 // blob[ends[i-1]:ends[i]] is the text of token i
	kinds []Kind
	ids   map[string]int32 // by the spelling in the file
}

func bad(format string, args ...any) error { return errs.Newf(errs.FormatInvalid, format, args...) }

// Vocab is the number of tokens; ids are 0 to Vocab()-1.
func (l *lexicon) Vocab() int { return len(l.ends) }

// Piece is the text of a token, which need not be whole runes, as bytes that the
// caller must not change; it is empty for an id outside the vocabulary. In the middle
// of a text the pieces joined are the text; Decode also knows what stands before the
// first word.
func (l *lexicon) Piece(id int32) []byte {
	if id < 0 || int(id) >= len(l.ends) {
		return nil
	}
	start := uint32(0)
	if id > 0 {
		start = l.ends[id-1]
	}
	return l.blob[start:l.ends[id]:l.ends[id]]
}

// normal finds a token that merging can make, by its spelling.
func (l *lexicon) normal(spelling string) (int32, bool) {
	id, ok := l.ids[spelling]
	return id, ok && (l.kinds[id] == Normal || l.kinds[id] == Byte)
}

// append files the next token: its spelling, and the text that it decodes to. Of two
// tokens with equal spelling the first counts.
func (l *lexicon) append(spelling string, text []byte, k Kind) {
	id := int32(len(l.ends))
	l.blob = append(l.blob, text...)
	l.ends = append(l.ends, uint32(len(l.blob)))
	l.kinds = append(l.kinds, k)
	if _, dup := l.ids[spelling]; !dup {
		l.ids[spelling] = id
	}
}

func newLexicon(n int) lexicon {
	return lexicon{ids: make(map[string]int32, n), kinds: make([]Kind, 0, n), ends: make([]uint32, 0, n)}
}

// isTag tells whether a user-defined token looks like markup, which steers models
// as control tokens do and so needs the same care.
func isTag(text string) bool {
	first, last := text[0], text[len(text)-1]
	return len(text) > 2 && (first == '<' && last == '>' || first == '[' && last == ']')
}

// addToken files the text of a token that is taken as a whole.
func (t *Tokenizer) addToken(in *trie, text string, k Kind, a addedToken) error {
	if len(text) > maxAdded {
		return bad("the added token %d has %d bytes, at most %d are allowed", a.id, len(text), maxAdded)
	}
	if text == "" {
		return nil
	}
	a.guarded = k == Control || k == Unknown || isTag(text)
	in.add(text, a)
	return nil
}
