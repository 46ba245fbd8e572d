package token

import (
	"unicode/utf8"
)

// Stream turns tokens into text as they come, whole runes only: bytes of a rune
// that is not complete wait for the next token. Control tokens have no text. A stream
// continues a text: the space before its first word, if there is one, is part of it.
type Stream struct {
	t       *Tokenizer
	pending []byte // at most 3 bytes between calls
}

// NewStream starts an empty stream.
func (t *Tokenizer) NewStream() *Stream { return &Stream{t: t} }

// Push gives the text that is complete after one more token, perhaps none. Bytes
// that cannot be UTF-8 become U+FFFD.
func (s *Stream) Push(id int32) string {
	if s.t.IsControl(id) {
		return ""
	}
	s.pending = append(s.pending, s.t.Piece(id)...)
	var out []byte
	for len(s.pending) > 0 && utf8.FullRune(s.pending) {
		r, n := utf8.DecodeRune(s.pending)
		out = utf8.AppendRune(out, r)
		s.pending = s.pending[n:]
	}
	s.pending = append([]byte(nil), s.pending...)
	return string(out)
}

// Flush ends the text: what is left of an incomplete rune becomes one U+FFFD.
func (s *Stream) Flush() string {
	if len(s.pending) == 0 {
		return ""
	}
	s.pending = nil
	return string(utf8.RuneError)
}
