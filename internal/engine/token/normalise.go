package token

import (
	"strings"
)

// normaliser rewrites a text before it is split into words; start tells that the text
// begins the whole text. Its result is bounded by a small multiple of its input.
type normaliser func(text string, start bool) string

// inOrder applies normalisers one after the other; it is nil if there are none.
func inOrder(steps []normaliser) normaliser {
	switch len(steps) {
	case 0:
		return nil
	case 1:
		return steps[0]
	}
	return func(text string, start bool) string {
		for _, step := range steps {
			text = step(text, start)
		}
		return text
	}
}

func replaced(old, with string) normaliser {
	return func(text string, _ bool) string { return strings.ReplaceAll(text, old, with) }
}

// prefixed puts something before every text that is not empty.
func prefixed(prefix string) normaliser {
	return func(text string, _ bool) string {
		if text == "" {
			return ""
		}
		return prefix + text
	}
}

// squeezed leaves one space of each run of spaces, none at either end.
func squeezed(text string, _ bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != ' ' || i+1 < len(text) && text[i+1] != ' ' && b.Len() > 0 {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}
