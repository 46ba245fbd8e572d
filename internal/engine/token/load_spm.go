package token

import (
	"fmt"
	"strconv"
	"strings"

	"macaron/internal/errs"
)

// blank is how SentencePiece spells a space, U+2581.
const blank = "▁"

// maxPiece bounds the bytes of a piece that merging can make, and so what one look-up
// costs.
const maxPiece = 2048

// loadPieces reads a SentencePiece model: pieces with scores, no merges.
func (t *Tokenizer) loadPieces(meta Source) ([]uint64, error) {
	t.algo, t.pre, t.fuse = bpeScores, "spm", true
	if err := t.loadTokens(meta, decodedPiece); err != nil {
		return nil, err
	}
	scores, err := meta.Floats("tokenizer.ggml.scores")
	if err != nil {
		return nil, err
	}
	if len(scores) != t.Vocab() {
		return nil, bad("the vocabulary has %d tokens and %d scores", t.Vocab(), len(scores))
	}
	t.scores = make([]float32, len(scores))
	for i, s := range scores {
		t.scores[i] = float32(s)
	}
	if err := t.findFallback(); err != nil {
		return nil, err
	}
	return nil, t.loadSpaces(meta)
}

// decodedPiece gives what a piece decodes to: its text with spaces, or its byte.
func decodedPiece(text string, k Kind) []byte {
	switch k {
	case Byte:
		if b, ok := byteOf(text); ok {
			return []byte{b}
		}
	case Normal, Unused:
		return []byte(strings.ReplaceAll(text, blank, " "))
	}
	return []byte(text)
}

// byteOf reads the name of a byte token, <0xNN>.
func byteOf(text string) (byte, bool) {
	hex, ok := strings.CutPrefix(text, "<0x")
	hex, closed := strings.CutSuffix(hex, ">")
	n, err := strconv.ParseUint(hex, 16, 8)
	return byte(n), ok && closed && len(hex) == 2 && err == nil
}

// findFallback finds the byte tokens, the unknown token, and the longest piece. A byte
// token is not a piece: text "<0x0A>" is no newline.
func (t *Tokenizer) findFallback() error {
	for b := range t.bytes {
		t.bytes[b] = -1
	}
	for text, id := range t.ids {
		switch t.kinds[id] {
		case Byte:
			b, ok := byteOf(text)
			if !ok {
				return bad("token %d (%q) is no byte, but is said to be one", id, errs.Clip(text))
			}
			t.bytes[b] = id
			delete(t.ids, text)
		case Normal:
			t.longest = max(t.longest, len(text))
		}
	}
	if t.longest > maxPiece {
		return bad("a piece of the vocabulary has %d bytes, at most %d are allowed", t.longest, maxPiece)
	}
	for id, k := range t.kinds {
		if k == Unknown {
			t.unk = int32(id)
			break
		}
	}
	return nil
}

// loadSpaces reads what happens to spaces. SentencePiece spells them all as U+2581,
// and most models begin every text, and every text after a special token, with one.
func (t *Tokenizer) loadSpaces(meta Source) error {
	prefix, err := meta.BoolOr("tokenizer.ggml.add_space_prefix", true)
	if err != nil {
		return err
	}
	squeeze, err := meta.BoolOr("tokenizer.ggml.remove_extra_whitespaces", false)
	if err != nil {
		return err
	}
	var steps []normaliser
	if squeeze {
		steps = append(steps, squeezed)
	}
	if prefix {
		steps = append(steps, prefixed(" "))
		t.strip = stripWord
	}
	t.rules = fmt.Sprintf("prefix %v, squeeze %v", prefix, squeeze)
	t.norm = inOrder(append(steps, replaced(" ", blank)))
	return nil
}
