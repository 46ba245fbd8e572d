package filter

import (
	"fmt"
	"strings"
)

// scrubber puts typed placeholders in the place of findings, the same for the same value
// within a row, so that what refers to one thing still does.
type scrubber struct {
	types []string
	names map[string]string // value -> placeholder
	Count map[string]int    // findings by type
}

func newScrubber(types []string) *scrubber {
	return &scrubber{types: types, names: map[string]string{}, Count: map[string]int{}}
}

// scrub gives the text with placeholders such as [EMAIL_1].
func (s *scrubber) scrub(text string) string {
	var b strings.Builder
	last := 0
	for _, f := range Find(text, s.types) {
		value := f.Type + "\x00" + text[f.From:f.To]
		if s.names[value] == "" {
			s.names[value] = fmt.Sprintf("[%s_%d]", strings.ToUpper(f.Type), s.next(f.Type))
		}
		s.Count[f.Type]++
		b.WriteString(text[last:f.From])
		b.WriteString(s.names[value])
		last = f.To
	}
	if last == 0 {
		return text
	}
	b.WriteString(text[last:])
	return b.String()
}

// next is the number of a type's next value.
func (s *scrubber) next(kind string) int {
	n := 1
	for v := range s.names {
		if strings.HasPrefix(v, kind+"\x00") {
			n++
		}
	}
	return n
}
