package library

import (
	"cmp"
	"slices"
	"strings"
)

// Near gives the names that are nearest to a name by edits, at most three, the nearest
// first, and none that is further than half of it. A name that contains it, or that it
// contains, is at most two edits away. The runtime's icons/near.ts decides alike.
func Near(name string, among []string) []string {
	if len(name) > longestName {
		return nil
	}
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	for _, n := range among {
		if far := distance(strings.ToLower(name), strings.ToLower(n)); far <= (len(name)+1)/2 {
			found = append(found, candidate{n, far})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.far, b.far), strings.Compare(a.name, b.name))
	})
	names := make([]string, 0, 3)
	for _, c := range found[:min(3, len(found))] {
		names = append(names, c.name)
	}
	return names
}

// longestName is the most bytes of a name that is compared: no valid one is longer.
const longestName = 64

// distance is Levenshtein's, at most two where one name has the other in it.
func distance(a, b string) int {
	if min(len(a), len(b)) > 2 && (strings.Contains(a, b) || strings.Contains(b, a)) {
		return min(2, levenshtein(a, b))
	}
	return levenshtein(a, b)
}

func levenshtein(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}
