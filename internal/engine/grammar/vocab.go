package grammar

import (
	"fmt"
	"slices"

	"macaron/internal/errs"
)

// Tokens is the vocabulary of a model; token.Tokenizer is one.
type Tokens interface {
	Vocab() int
	Piece(id int32) []byte
	IsControl(id int32) bool
	ID(piece string) (int32, bool)
	EOG() []int32
}

// maxPiece bounds the bytes of a token that a constraint can use.
const maxPiece = 255

// Vocab is a vocabulary as a trie over bytes. It is built once for a model, immutable
// and safe for concurrent use.
type Vocab struct {
	tok      Tokens
	size     int
	end      []int32 // tokens that end an answer
	controls []int32 // other tokens that are special to the model
	parts    []slice
	trie     trie
}

// slice is a set of tokens that is often allowed as a whole, and its part of the trie.
type slice struct {
	runes  int // plain tokens of at most so many runes; 0: the others
	lo, hi int32
	bits   []uint64
}

// plainRunes are the borders between slices of plain tokens.
var plainRunes = []int{4, 10, 20, maxPiece}

// NewVocab files the tokens of a vocabulary. Control tokens are filed under a name that
// no text has; only tool layouts and token references of EBNF can ask for them. A
// vocabulary without a token that ends an answer is Unsupported.
func NewVocab(t Tokens) (*Vocab, error) {
	v := &Vocab{tok: t, size: t.Vocab(), end: slices.Clone(t.EOG())}
	if len(v.end) == 0 {
		return nil, errs.New(errs.Unsupported, "the model names no token that ends a text, so that a constrained answer could not end", "use another model")
	}
	for id := range int32(v.size) {
		if t.IsControl(id) && !slices.Contains(v.end, id) {
			v.controls = append(v.controls, id)
		}
	}
	names := v.names()
	sorted := newSorter(names)
	v.parts = make([]slice, 0, len(plainRunes)+1)
	for i, ids := range v.divide(names) {
		part := slice{bits: make([]uint64, words(v.size))}
		if i < len(plainRunes) {
			part.runes = plainRunes[i]
		}
		part.lo = int32(len(v.trie.sym))
		v.trie.add(names, sorted.sort(ids))
		part.hi = int32(len(v.trie.sym))
		for _, id := range ids {
			set(part.bits, id)
		}
		v.parts = append(v.parts, part)
	}
	return v, nil
}

// Size is the number of tokens.
func (v *Vocab) Size() int { return v.size }

// Words is the length of a mask: one bit for each token, the lowest bit of word 0 first.
func (v *Vocab) Words() int { return words(v.size) }

func words(n int) int { return (n + 63) / 64 }

func set(bits []uint64, id int32) { bits[id>>6] |= 1 << (id & 63) }

// names gives the bytes of every token, empty for one that no constraint can use.
func (v *Vocab) names() [][]byte {
	names := make([][]byte, v.size)
	for id := range names {
		names[id] = v.name(int32(id))
	}
	return names
}

// name is the bytes under which a token is filed. 0xFF is in no text, so a control
// token, which is 0xFF and its number, cannot be met by accident.
func (v *Vocab) name(id int32) []byte {
	if v.tok.IsControl(id) && !slices.Contains(v.end, id) {
		return []byte(controlName(id))
	}
	piece := v.tok.Piece(id)
	if len(piece) > maxPiece || slices.Contains(piece, 0xFF) || slices.Contains(v.end, id) {
		return nil
	}
	return piece
}

// controlName is how a grammar asks for a token by its id.
func controlName(id int32) string {
	return string([]byte{0xFF, byte(id >> 16), byte(id >> 8), byte(id)})
}

// divide shares the tokens out to the slices.
func (v *Vocab) divide(names [][]byte) [][]int32 {
	out := make([][]int32, len(plainRunes)+1)
	for id, name := range names {
		if len(name) == 0 {
			continue
		}
		at := len(plainRunes)
		if n := plain(name); n > 0 {
			at, _ = slices.BinarySearch(plainRunes, n)
		}
		out[at] = append(out[at], int32(id))
	}
	return out
}

// checkID refuses an id that is not a token.
func (v *Vocab) checkID(id int32) error {
	if id < 0 || int(id) >= v.size {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("token %d is not in the vocabulary of %d", id, v.size), "")
	}
	return nil
}
