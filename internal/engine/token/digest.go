package token

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
)

// digest hashes everything that decides an encoding, each part with its length:
// the format's name, the rules, tokens with kinds, merges by rank, the special tokens,
// and what else the algorithm looks at.
func (t *Tokenizer) digest(merges []uint64) string {
	b := make([]byte, 0, len(t.blob)+12*len(t.kinds)+8*len(merges)+256)
	b = hashText(b, "macaron.tokenizer/1")
	b = hashText(b, canonicalPre(t.pre))
	b = hashInt(b, int32(t.Vocab()))
	for i := range t.kinds {
		b = hashInt(b, int32(t.kinds[i]))
		b = hashText(b, string(t.Piece(int32(i))))
	}
	b = hashInt(b, int32(len(merges)))
	for _, m := range merges {
		b = hashInt(b, int32(m>>32))
		b = hashInt(b, int32(uint32(m)))
	}
	add := int32(0)
	if t.AddBOS() {
		add = 1
	}
	for _, n := range append([]int32{t.bos, t.eos, add}, t.EOG()...) {
		b = hashInt(b, n)
	}
	if t.algo != bpeBytes || t.rules != "" || len(t.back) > 0 || len(t.front) != int(add) {
		b = t.digestMore(b)
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// digestMore adds what a byte-level vocabulary with the usual frame does not have.
func (t *Tokenizer) digestMore(b []byte) []byte {
	b = hashInt(b, int32(t.algo))
	b = hashText(b, t.rules)
	for _, ids := range [][]int32{t.front, t.back, {t.unk, int32(len(t.scores))}} {
		b = hashInt(b, int32(len(ids)))
		for _, id := range ids {
			b = hashInt(b, id)
		}
	}
	for _, s := range t.scores {
		b = hashInt(b, int32(math.Float32bits(s)))
	}
	return b
}

// canonicalPre gives one name to all pre-tokenisers that split alike, the one that
// most models have.
func canonicalPre(name string) string {
	if rule, ok := families[name]; ok {
		return rule.name
	}
	return name
}

func hashInt(b []byte, n int32) []byte { return binary.LittleEndian.AppendUint32(b, uint32(n)) }

func hashText(b []byte, s string) []byte { return append(hashInt(b, int32(len(s))), s...) }

func sortedKeys(m map[int32]bool) []int32 {
	keys := make([]int32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
