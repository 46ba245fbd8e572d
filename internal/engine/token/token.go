// Package token turns text into token ids and back. It builds three kinds of
// tokenizers, from the metadata of a GGUF file or from the tokenizer.json of a
// Hugging Face directory:
//
//   - byte-pair encoding over bytes (GPT-2, Llama 3, Qwen, SmolLM) or over runes with
//     bytes as the fallback (Llama 2, Mistral, Gemma as Hugging Face writes them),
//     by a list of merges;
//   - SentencePiece's byte-pair encoding, by the scores of the pieces (the same
//     models as GGUF files carry them);
//   - WordPiece (BERT encoders).
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
	lexicon
	pre   string // name of the rule that splits text into words
	rules string // what else decides how text is rewritten and split, for the digest
	algo  algorithm

	added  trie       // control and user-defined tokens, found in the text as it comes
	later  trie       // user-defined tokens that are found in the normalised text
	norm   normaliser // nil: text stays as it is
	before normaliser // what the pre-tokeniser does to a piece before it splits it; nil: nothing
	split  []splitter // each splits the pieces of the one before; none: a text is one word
	blanks bool       // words that begin with a blank are dropped
	whole  bool       // a word that is a token as it stands is not merged

	merges  map[uint64]merge // of bpeBytes and bpeRunes
	scores  []float32        // of bpeScores, by id
	longest int              // bytes of the longest spelling that merging can make
	bytes   [256]int32       // token of each single byte, -1 when the vocabulary lacks it
	unk     int32            // what stands for text that has no tokens, -1: none
	fuse    bool             // of unknown neighbours there is one token
	pieces  wordPieces       // of wordPiece
	bert    bertRules        // of wordPiece from GGUF
	strip   stripping        // what Decode does to a space at the start

	bos, eos    int32   // -1: none
	front, back []int32 // what the model expects around one text
	eog         map[int32]bool
	decoded     func(text string, k Kind) []byte // what a piece decodes to; nil: it is spelled in bytes
	tidy        bool                             // WordPiece takes out the space before a mark
	hash        string
	scratch     sync.Pool
}

// algorithm is how a word becomes tokens.
type algorithm uint8

const (
	bpeBytes  algorithm = iota // merges, from single bytes
	bpeRunes                   // merges, from single runes
	bpeScores                  // the neighbours whose joint piece has the highest score
	wordPiece                  // the longest piece from the left
)

// merge says what a pair of tokens becomes, and how early.
type merge struct {
	rank uint32
	id   int32
}

func pair(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) }

// ID finds the token whose whole text is piece.
func (t *Tokenizer) ID(piece string) (int32, bool) {
	if id, ok := t.added.whole(piece); ok {
		return id, true
	}
	for _, text := range []string{piece, t.spelled(piece)} {
		if id, ok := t.later.whole(text); ok {
			return id, true
		}
	}
	if t.algo == wordPiece {
		id, ok := t.pieces.starts[piece]
		return id, ok
	}
	return t.normal(t.spelled(piece))
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
func (t *Tokenizer) AddBOS() bool { return t.bos >= 0 && len(t.front) > 0 && t.front[0] == t.bos }

// Frame gives the tokens that the model expects before and after one text: BOS of
// most decoders, [CLS] and [SEP] of BERT. The caller must not change them.
func (t *Tokenizer) Frame() (front, back []int32) { return t.front, t.back }

// IsEOG tells whether a token ends a generation: the end of the text, of the turn
// or of the message.
func (t *Tokenizer) IsEOG(id int32) bool { return t.eog[id] }

// EOG lists the tokens for which IsEOG holds, ascending.
func (t *Tokenizer) EOG() []int32 { return sortedKeys(t.eog) }

// Pre is the name of the pre-tokeniser that the file gives or describes.
func (t *Tokenizer) Pre() string { return t.pre }

// Hash is "sha256:" and 64 hex digits over everything that decides an encoding.
func (t *Tokenizer) Hash() string { return t.hash }

// Lacks tells whether a byte has no token, so that Encode drops it, as the
// vocabulary's own trainer does. Byte-level vocabularies lack at most bytes that
// UTF-8 never or hardly ever uses, and some control characters; of the others it is
// always false.
func (t *Tokenizer) Lacks(b byte) bool { return t.algo == bpeBytes && t.bytes[b] < 0 }

// String names the vocabulary for logs.
func (t *Tokenizer) String() string {
	return fmt.Sprintf("%s tokenizer of %d tokens", t.pre, t.Vocab())
}
