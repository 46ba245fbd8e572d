package fleet

import (
	"hash/fnv"
	"math"
	"slices"
)

// ranked orders engines for a key by weighted rendezvous hashing: the same key has the
// same order as long as the engines are the same, an engine that comes or goes moves
// only the keys of its own, and each gets keys in proportion to its weight.
func ranked(list []*member, key string) []*member {
	out := slices.Clone(list)
	score := make(map[*member]float64, len(out))
	for _, m := range out {
		score[m] = -m.Weight / math.Log(fraction(key, m.Name))
	}
	slices.SortStableFunc(out, func(a, b *member) int {
		switch {
		case score[a] > score[b]:
			return -1
		case score[a] < score[b]:
			return 1
		}
		return 0
	})
	return out
}

// fraction maps a key and a name to the open interval (0, 1).
func fraction(key, name string) float64 {
	h := fnv.New64a()
	h.Write([]byte(key + "\x00" + name)) // never fails
	x := h.Sum64()
	x ^= x >> 33 // the finaliser of MurmurHash3: FNV alone mixes its last bytes badly
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return (float64(x>>11) + 0.5) / (1 << 53)
}
