package grammar

import (
	"slices"
	"unicode/utf8"
)

func (s *sorter) sort(ids []int32) []int32 {
	slices.SortFunc(ids, s.compare)
	return ids
}

// plain is the number of runes of a token that could stand anywhere within a JSON
// string: whole runes from U+0020 on, without quote and backslash. 0 for others.
func plain(name []byte) int {
	n := 0
	for len(name) > 0 {
		r, size := utf8.DecodeRune(name)
		if r < 0x20 || r == '"' || r == '\\' || r == utf8.RuneError && size == 1 {
			return 0
		}
		name, n = name[size:], n+1
	}
	return n
}

// plainStep is an edge of the automaton of plain text: state 0 is between runes, the
// others are within one.
type plainStep struct {
	lo, hi byte
	to     int
}

// plainText follows table 3-7 of the Unicode standard.
var plainText = [8][]plainStep{
	0: {{0x20, 0x21, 0}, {0x23, 0x5B, 0}, {0x5D, 0x7F, 0}, {0xC2, 0xDF, 1}, {0xE0, 0xE0, 2}, {0xE1, 0xEC, 3}, {0xED, 0xED, 4},
		{0xEE, 0xEF, 3}, {0xF0, 0xF0, 5}, {0xF1, 0xF3, 6}, {0xF4, 0xF4, 7}},
	1: {{0x80, 0xBF, 0}},
	2: {{0xA0, 0xBF, 1}},
	3: {{0x80, 0xBF, 1}},
	4: {{0x80, 0x9F, 1}},
	5: {{0x90, 0xBF, 3}},
	6: {{0x80, 0xBF, 3}},
	7: {{0x80, 0x8F, 3}},
}
