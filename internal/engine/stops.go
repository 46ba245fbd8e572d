package engine

import (
	"bytes"
	"fmt"

	"macaron/internal/engine/token"
	"macaron/internal/errs"
)

// Stops end an answer. The token that meets one is its last and is delivered like any
// other.
type Stops struct {
	Tokens []int32
	Texts  []string // met as soon as the answer holds one, wherever tokens part it
}

// Bounds of Stops.
const (
	MaxStops     = 64
	MaxStopBytes = 1024 // of one text
)

func (s *Stops) check(vocab int) error {
	if len(s.Tokens)+len(s.Texts) > MaxStops {
		return errs.Newf(errs.InvalidRequest, "the request has %d stops, at most %d are possible", len(s.Tokens)+len(s.Texts), MaxStops).In("stop")
	}
	for _, t := range s.Tokens {
		if t < 0 || int(t) >= vocab {
			return errs.Newf(errs.InvalidRequest, "the stop token %d is not in the vocabulary of %d", t, vocab).In("stop")
		}
	}
	for _, text := range s.Texts {
		if text == "" || len(text) > MaxStopBytes {
			return errs.New(errs.InvalidRequest, fmt.Sprintf("a stop has %d bytes", len(text)), fmt.Sprintf("give texts of 1 to %d bytes", MaxStopBytes)).In("stop")
		}
	}
	return nil
}

// stopper watches an answer.
type stopper struct {
	tok     *token.Tokenizer
	tokens  map[int32]bool
	texts   [][]byte
	longest int
	tail    []byte // of the answer so far: what a stop could begin in
}

// newStopper is nil for no stops.
func newStopper(tok *token.Tokenizer, s Stops) *stopper {
	if len(s.Tokens)+len(s.Texts) == 0 {
		return nil
	}
	w := &stopper{tok: tok, tokens: map[int32]bool{}}
	for _, t := range s.Tokens {
		w.tokens[t] = true
	}
	for _, text := range s.Texts {
		w.texts = append(w.texts, []byte(text))
		w.longest = max(w.longest, len(text))
	}
	return w
}

// met tells whether the next token of the answer ends it.
func (w *stopper) met(id int32) bool {
	if w == nil {
		return false
	}
	if w.tokens[id] {
		return true
	}
	if w.longest == 0 {
		return false
	}
	w.tail = append(w.tail, w.tok.Piece(id)...)
	for _, text := range w.texts {
		if bytes.Contains(w.tail, text) {
			return true
		}
	}
	w.tail = w.tail[max(len(w.tail)-w.longest+1, 0):]
	return false
}
