package filter

import (
	"cmp"
	"slices"
	"strings"
)

// Types are the kinds of personal data and secrets that are looked for.
var Types = []string{"email", "phone", "card", "iban", "ip", "secret"}

// Finding is a place in a text, in bytes, and what stands there.
type Finding struct {
	From, To int
	Type     string
}

// detectors find one type each. Where two overlap, the first in this list wins: a key may
// hold digits that look like a phone's, never the other way round.
var detectors = []struct {
	kind string
	find func(text string) []Finding
}{
	{"secret", findSecrets}, {"email", findEmails}, {"iban", findIBANs}, {"card", findCards}, {"ip", findIPs}, {"phone", findPhones},
}

// Find lists what a text has of some types, in order, without overlaps.
func Find(text string, types []string) []Finding {
	var out []Finding
	for _, d := range detectors {
		for _, f := range d.find(text) {
			if !overlaps(out, f) {
				out = append(out, f)
			}
		}
	}
	out = slices.DeleteFunc(out, func(f Finding) bool { return !slices.Contains(types, f.Type) })
	slices.SortFunc(out, func(a, b Finding) int { return cmp.Compare(a.From, b.From) })
	return out
}

func overlaps(all []Finding, f Finding) bool {
	for _, o := range all {
		if f.From < o.To && o.From < f.To {
			return true
		}
	}
	return false
}

// alone reports whether nothing that could belong to a number or a word touches the place.
func alone(text string, from, to int) bool {
	if from > 0 && wordByte(text[from-1]) || to < len(text) && wordByte(text[to]) {
		return false
	}
	return true
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// digitsOf gives the digits of a text.
func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}
