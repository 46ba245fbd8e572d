package chatapi

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"macaron/internal/errs"
	"macaron/internal/limits"
)

// MaxIgnored bounds the list of what was ignored; a body can have any number of members.
const MaxIgnored = 64

var index = regexp.MustCompile(`\[\d+\]`)

// Ignored are the fields that were read and not honoured, which the answer reports. The nil
// pointer takes none.
type Ignored []string

// Add reports a field, once for all items of a list.
func (g *Ignored) Add(field string) {
	if g == nil {
		return
	}
	field = index.ReplaceAllString(field, "[]")
	if len(*g) < MaxIgnored && !slices.Contains(*g, field) {
		*g = append(*g, field)
	}
}

// Rest reports the members of an object that are not among the known ones. An empty list
// asks for nothing.
func (g *Ignored) Rest(field string, m map[string]json.RawMessage, known ...string) {
	if g == nil || len(m) <= len(known) && !slices.ContainsFunc(slices.Collect(maps.Keys(m)), func(name string) bool { return !slices.Contains(known, name) }) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(known, name) && !limits.Absent(m[name]) && string(m[name]) != "[]" {
			g.Add(field + "." + errs.Clip(name))
		}
	}
}
