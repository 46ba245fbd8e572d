package action

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Secrets are the NoAI values that a surface holds or has held. They are kept to look
// for, never to show: every way of printing or encoding them gives the same fixed text.
// Use them by pointer; the zero value is empty.
type Secrets struct {
	values []string // as they were typed, none within another
	any    bool     // there are or were some
	over   bool     // more than MaxSecrets: what leaves can no longer be checked
}

// hidden stands for a NoAI value wherever one would be printed.
const hidden = "[NoAI]"

// Format, String, MarshalJSON and MarshalText keep the values out of logs and errors.
func (s *Secrets) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, hidden) }

// String is the fixed text.
func (s *Secrets) String() string { return hidden }

// MarshalJSON is the fixed text.
func (s *Secrets) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// MarshalText is the fixed text.
func (s *Secrets) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Add takes a decoded NoAI value: its strings and numbers. That there is one at all
// taints the surface for good, also if it is a boolean, which no search can find.
func (s *Secrets) Add(v any) {
	s.any = true
	leaves(v, s.addText)
}

// meet takes a value of which it is not said who has it: one that is known already, as a
// sealed one is, changes nothing; another counts as held by the card's code.
func (s *Secrets) meet(v any) {
	known := true
	leaves(v, func(text string) {
		known = known && slices.ContainsFunc(s.values, func(have string) bool { return strings.Contains(have, text) })
	})
	if _, flag := v.(bool); flag || !known {
		s.Add(v)
	}
}

// addText keeps a text unless another holds it; those within it go. Typing letter by
// letter therefore leaves the longest.
func (s *Secrets) addText(text string) {
	if text == "" || s.over {
		return
	}
	for _, have := range s.values {
		if strings.Contains(have, text) && len(skeleton(text)) >= window {
			return
		}
	}
	s.values = slices.DeleteFunc(s.values, func(have string) bool { return strings.Contains(text, have) && typedFurther(have, text) })
	s.values = append(s.values, text)
	if len(s.values) > MaxSecrets {
		s.values, s.over = nil, true
	}
}

// typedFurther says whether text is have with more typed behind it.
func typedFurther(have, text string) bool { return strings.HasPrefix(text, have) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
