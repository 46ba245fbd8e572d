// Package auto holds regular languages over Unicode code points: a parser for regular
// expressions, and finite automata with the operations that constraints on strings and
// numbers need (intersection, complement). All work is counted against a Budget.
package auto

import (
	"slices"
	"unicode"
)

// Set is a set of runes: ranges that ascend and do not touch. Surrogates are in no set.
type Set []Range

// Range is the runes from Lo to Hi.
type Range struct{ Lo, Hi rune }

// Any is every rune.
var Any = Set{{0, 0xD7FF}, {0xE000, unicode.MaxRune}}

// Of is the set of some runes.
func Of(runes ...rune) Set {
	s := make(Set, len(runes))
	for i, r := range runes {
		s[i] = Range{r, r}
	}
	return normal(s)
}

// Between is the set of the runes from lo to hi.
func Between(lo, hi rune) Set { return normal(Set{{lo, hi}}) }

// normal sorts and joins ranges, and takes surrogates out.
func normal(s Set) Set {
	slices.SortFunc(s, func(a, b Range) int { return int(a.Lo - b.Lo) })
	var out Set
	for _, r := range s {
		if n := len(out); n > 0 && r.Lo <= out[n-1].Hi+1 {
			out[n-1].Hi = max(out[n-1].Hi, r.Hi)
		} else {
			out = append(out, r)
		}
	}
	return out.And(Any)
}

// Or is the union.
func (s Set) Or(t Set) Set { return normal(append(slices.Clone(s), t...)) }

// And is the intersection.
func (s Set) And(t Set) Set {
	var out Set
	for i, j := 0, 0; i < len(s) && j < len(t); {
		lo, hi := max(s[i].Lo, t[j].Lo), min(s[i].Hi, t[j].Hi)
		if lo <= hi {
			out = append(out, Range{lo, hi})
		}
		if s[i].Hi < t[j].Hi {
			i++
		} else {
			j++
		}
	}
	return out
}

// Not is the complement.
func (s Set) Not() Set {
	var out Set
	next := rune(0)
	for _, r := range s {
		if r.Lo > next {
			out = append(out, Range{next, r.Lo - 1})
		}
		next = r.Hi + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, Range{next, unicode.MaxRune})
	}
	return out.And(Any)
}

// Has tells whether a rune is in the set.
func (s Set) Has(r rune) bool {
	_, ok := slices.BinarySearchFunc(s, r, func(x Range, r rune) int {
		switch {
		case x.Hi < r:
			return -1
		case x.Lo > r:
			return 1
		}
		return 0
	})
	return ok
}

// table is the set of a table of package unicode.
func table(t *unicode.RangeTable) Set {
	var s Set
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			s = append(s, Range{lo, hi})
			return
		}
		for r := lo; r <= hi; r += stride {
			s = append(s, Range{r, r})
		}
	}
	for _, r := range t.R16 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	for _, r := range t.R32 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	return normal(s)
}

// folded adds the other cases of every rune.
func (s Set) folded() Set {
	out := slices.Clone(s)
	for _, r := range s {
		if r.Hi-r.Lo > 0x3000 {
			continue // all of a script and more: both cases are in
		}
		for c := r.Lo; c <= r.Hi; c++ {
			for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
				out = append(out, Range{f, f})
			}
		}
	}
	return normal(out)
}
