package filter

import (
	"strings"
	"unicode"
)

// wordsOf cuts a text into small-lettered words; a character of a script that is written
// without spaces is a word of its own. Punctuation and markup are not words, so that they
// hide nothing.
func wordsOf(text string) []string {
	var out []string
	start := -1
	text = strings.ToLower(text)
	flush := func(to int) {
		if start >= 0 {
			out = append(out, text[start:to])
			start = -1
		}
	}
	for i, r := range text {
		switch {
		case unspaced(r):
			flush(i)
			out = append(out, string(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if start < 0 {
				start = i
			}
		default:
			flush(i)
		}
	}
	flush(len(text))
	return out
}

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// mix is the finaliser of SplitMix64: equal input, equal output, on every machine.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// hashWord is FNV-1a.
func hashWord(w string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(w) {
		h = (h ^ uint64(w[i])) * 1099511628211
	}
	return h
}

// grams gives the hashes of all runs of n words, each once, in order; of a text with fewer
// words that of all its words.
func grams(words []string, n int) []uint64 {
	if len(words) == 0 {
		return nil
	}
	n = min(n, len(words))
	hashes := make([]uint64, len(words))
	for i, w := range words {
		hashes[i] = hashWord(w)
	}
	seen := make(map[uint64]bool, len(words))
	var out []uint64
	for i := 0; i+n <= len(words); i++ {
		h := uint64(n)
		for _, w := range hashes[i : i+n] {
			h = mix(h ^ w)
		}
		if !seen[h] {
			seen[h] = true
			out = append(out, h)
		}
	}
	return out
}

// jaccard is the share of two sets that both have.
func jaccard(a, b []uint64) float64 {
	in := make(map[uint64]bool, len(a))
	for _, x := range a {
		in[x] = true
	}
	both := 0
	for _, x := range b {
		if in[x] {
			both++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 0
}
