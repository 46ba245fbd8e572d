package local

import (
	"bytes"
	"slices"

	"macaron/internal/engine/token"
	"macaron/internal/mint"
)

// stops finds out when an answer ends by a stop of its request.
type stops struct {
	tokens []int32
	texts  [][]byte
	text   *token.Stream
	tail   []byte // of the answer's text: as much as a stop can reach back
	most   int    // bytes of the longest text
}

func newStops(s mint.Stop, t *token.Tokenizer) *stops {
	out := &stops{tokens: slices.Clone(s.Tokens), text: t.NewStream()}
	for _, text := range s.Texts {
		if id, ok := t.ID(text); ok && t.IsControl(id) { // it has no text
			out.tokens = append(out.tokens, id)
		} else if text != "" {
			out.texts = append(out.texts, []byte(text))
			out.most = max(out.most, len(text))
		}
	}
	return out
}

// reached tells whether a token, or the text that it completes, is a stop.
func (s *stops) reached(id int32) bool {
	if slices.Contains(s.tokens, id) {
		return true
	}
	if len(s.texts) == 0 {
		return false
	}
	fresh := []byte(s.text.Push(id))
	s.tail = append(s.tail, fresh...)
	for _, t := range s.texts {
		if bytes.Contains(s.tail, t) {
			return true
		}
	}
	s.tail = append(s.tail[:0], s.tail[max(0, len(s.tail)-s.most+1):]...)
	return false
}
