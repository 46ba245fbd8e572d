// Package token turns text into token ids and back: byte-level byte-pair encoding
// with the vocabulary, merges and pre-tokeniser that a GGUF file names.
//
// Text from people must never become a control token. Encode with special=false,
// and the untrusted segments of EncodeSegments, treat "<|im_end|>" and the like as
// the plain characters that they are.
package token

import (
	"fmt"
	"sync"
)

// Kind is the role of a token, by its number in GGUF.
type Kind uint8

// The kinds.
const (
	Normal      Kind = 1 // made by merging bytes
	Unknown     Kind = 2
	Control     Kind = 3 // means something to the model and has no text in an answer
	UserDefined Kind = 4 // matched as a whole wherever its text appears
	Unused      Kind = 5
	Byte        Kind = 6
)

// Tokenizer is one vocabulary with its rules. It is immutable and safe for
// concurrent use.
type Tokenizer struct {
	pre      string
	split    splitter
	whole    bool // a word that is a token as it stands is not merged
	blob     []byte
	ends     []uint32 // blob[ends[i-1]:ends[i]] is the text of token i
	kinds    []Kind
	ids      map[string]int32 // by the spelling in the file
	added    trie             // control and user-defined tokens
	bytes    [256]int32       // token of each single byte, -1 when the vocabulary lacks it
	merges   map[uint64]merge
	bos, eos int32 // -1: none
	addBOS   bool
	eog      map[int32]bool
	hash     string
	scratch  sync.Pool
}

// merge says what a pair of tokens becomes, and how early.
type merge struct{ rank, id int32 }

func pair(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) }

// Vocab is the number of tokens; ids are 0 to Vocab()-1.
func (t *Tokenizer) Vocab() int { return len(t.ends) }

// Piece is the text of a token, which need not be whole runes, as bytes that the
// caller must not change; it is empty for an id outside the vocabulary.
func (t *Tokenizer) Piece(id int32) []byte {
	if id < 0 || int(id) >= len(t.ends) {
		return nil
	}
	start := uint32(0)
	if id > 0 {
		start = t.ends[id-1]
	}
	return t.blob[start:t.ends[id]:t.ends[id]]
}

// ID finds the token whose whole text is piece.
func (t *Tokenizer) ID(piece string) (int32, bool) {
	if id, n := t.added.longest(piece); n == len(piece) && n > 0 {
		return id, true
	}
	return t.normal(spelled(piece))
}

// Decode joins the texts of ids, control tokens included; ids outside the
// vocabulary add nothing. The result need not be UTF-8.
func (t *Tokenizer) Decode(ids []int32) []byte {
	var out []byte
	for _, id := range ids {
		out = append(out, t.Piece(id)...)
	}
	return out
}

// IsControl tells whether a token means something to the model rather than text.
func (t *Tokenizer) IsControl(id int32) bool {
	return id >= 0 && int(id) < len(t.kinds) && (t.kinds[id] == Control || t.kinds[id] == Unknown)
}

// EOS is the token that ends a text, -1 if the vocabulary names none.
func (t *Tokenizer) EOS() int32 { return t.eos }

// BOS is the token that begins a text, -1 if the vocabulary names none.
func (t *Tokenizer) BOS() int32 { return t.bos }

// AddBOS tells whether the model expects BOS before a prompt that lacks it.
func (t *Tokenizer) AddBOS() bool { return t.addBOS && t.bos >= 0 }

// IsEOG tells whether a token ends a generation: the end of the text, of the turn
// or of the message.
func (t *Tokenizer) IsEOG(id int32) bool { return t.eog[id] }

// EOG lists the tokens for which IsEOG holds, ascending.
func (t *Tokenizer) EOG() []int32 { return sortedKeys(t.eog) }

// Pre is the name of the pre-tokeniser that the file gives.
func (t *Tokenizer) Pre() string { return t.pre }

// Hash is "sha256:" and 64 hex digits over everything that decides an encoding.
func (t *Tokenizer) Hash() string { return t.hash }

// Lacks tells whether a byte has no token, so that Encode drops it, as the
// vocabulary's own trainer does. Vocabularies lack at most bytes that UTF-8 never
// or hardly ever uses, and some control characters.
func (t *Tokenizer) Lacks(b byte) bool { return t.bytes[b] < 0 }

// String names the vocabulary for logs.
func (t *Tokenizer) String() string {
	return fmt.Sprintf("%s tokenizer of %d tokens", t.pre, t.Vocab())
}
