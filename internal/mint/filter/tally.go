package filter

import (
	"cmp"
	"maps"
	"slices"
)

// tally counts by name.
type tally map[string]int

func (t tally) add(name string, n int) { t[name] += n }

// sorted lists by name.
func (t tally) sorted() []Count {
	out := []Count{}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		out = append(out, Count{name, t[name]})
	}
	return out
}

// largest lists by number.
func (t tally) largest() []Count {
	out := t.sorted()
	slices.SortStableFunc(out, func(a, b Count) int { return cmp.Compare(b.N, a.N) })
	return out
}
