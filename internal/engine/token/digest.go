package token

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
)

// digest hashes everything that decides an encoding, each part with its length:
// the format's name, the pre-tokeniser, tokens with kinds, merges by rank, the
// special tokens.
func (t *Tokenizer) digest() string {
	h := sha256.New()
	hashText(h, "macaron.tokenizer/1")
	hashText(h, t.pre)
	hashInt(h, t.Vocab())
	for i := range t.kinds {
		hashInt(h, int(t.kinds[i]))
		hashText(h, string(t.Piece(int32(i))))
	}
	type ranked struct {
		merge
		pair uint64
	}
	var all []ranked
	for p, m := range t.merges {
		all = append(all, ranked{m, p})
	}
	slices.SortFunc(all, func(a, b ranked) int { return int(a.rank) - int(b.rank) })
	hashInt(h, len(all))
	for _, m := range all {
		hashInt(h, int(m.pair>>32))
		hashInt(h, int(uint32(m.pair)))
	}
	add := 0
	if t.addBOS {
		add = 1
	}
	for _, n := range []int{int(t.bos), int(t.eos), add} {
		hashInt(h, n)
	}
	for _, id := range t.EOG() {
		hashInt(h, int(id))
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func hashInt(h hash.Hash, n int) {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], uint32(int32(n)))
	h.Write(b[:])
}

func hashText(h hash.Hash, s string) {
	hashInt(h, len(s))
	h.Write([]byte(s))
}

func sortedKeys(m map[int32]bool) []int32 {
	keys := make([]int32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
