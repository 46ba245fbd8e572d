package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"macaron/internal/canonical"
)

// Class is what a change can move.
type Class string

// The classes, from the heaviest.
const (
	Score    Class = "score"    // what the model sees, may do, or when it must stop
	Cost     Class = "cost"     // time and money, not what comes out
	Cosmetic Class = "cosmetic" // names and texts for people
)

// Change is one difference between two contracts, told as behaviour. It is compatible when
// whatever the old contract accepted and allowed, the new one accepts and allows.
type Change struct {
	Path       string          `json:"path"` // with names in place of numbers: tools.weather.retries
	What       string          `json:"what"`
	Class      Class           `json:"class"`
	Compatible bool            `json:"compatible"`
	Was        json.RawMessage `json:"was,omitempty"`
	Now        json.RawMessage `json:"now,omitempty"`
}

// Diff lists what differs between two contracts, in the order of the paths. Equal hashes
// give none.
func Diff(was, now *Contract) ([]Change, error) {
	a, err := flat(was)
	if err != nil {
		return nil, err
	}
	b, err := flat(now)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	var out []Change
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if x, y := a[path], b[path]; !bytes.Equal(x, y) && !inside(path, a, b) {
			out = append(out, change(path, x, y))
		}
	}
	return out, nil
}

// Bump is the part of the semantic version that the changes ask to raise: major, minor,
// patch, or "" without changes.
func Bump(changes []Change) string {
	part := ""
	for _, c := range changes {
		switch {
		case !c.Compatible:
			return "major"
		case c.Class != Cosmetic:
			part = "minor"
		case part == "":
			part = "patch"
		}
	}
	return part
}

// flat gives every value of a contract by its path; entries of named lists go by name, and
// have a value of their own that says that they are there.
func flat(c *Contract) (map[string]json.RawMessage, error) {
	m, err := c.fields()
	if err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	return out, flatten("", m, out)
}

func flatten(path string, v any, out map[string]json.RawMessage) error {
	switch v := v.(type) {
	case map[string]any:
		if !whole(path) {
			for k, e := range v {
				if err := flatten(join(path, k), e, out); err != nil {
					return err
				}
			}
			return nil
		}
	case []any:
		if named(v) {
			for _, e := range v {
				m := e.(map[string]any)
				at := join(path, quotedName(m["name"].(string)))
				out[at] = json.RawMessage("true")
				delete(m, "name")
				if err := flatten(at, m, out); err != nil {
					return err
				}
			}
			return nil
		}
	}
	b, err := canonical.Bytes(v)
	out[path] = b
	return err
}

func named(list []any) bool {
	for _, e := range list {
		m, ok := e.(map[string]any)
		if _, name := m["name"].(string); !ok || !name {
			return false
		}
	}
	return len(list) > 0
}

// quotedName is a name as it stands in a path: one with dots in it is quoted, so that it
// cannot be taken for a key of another entry.
func quotedName(name string) string {
	if strings.Contains(name, ".") {
		return `"` + name + `"`
	}
	return name
}

// entryPath cuts a path behind the name of an entry of a list; key is what follows.
func entryPath(path string) (entry, key string, ok bool) {
	section, rest, _ := strings.Cut(path, ".")
	if !lists[section] || rest == "" {
		return path, "", false
	}
	end := strings.IndexByte(rest, '.')
	if rest[0] == '"' {
		end = strings.IndexByte(rest[1:], '"') + 2
	}
	if end < 0 || end >= len(rest) {
		return path, "", true
	}
	return section + "." + rest[:end], rest[end+1:], true
}

// inside reports whether a path belongs to an entry that one side does not have: the entry
// itself is told.
func inside(path string, a, b map[string]json.RawMessage) bool {
	entry, key, ok := entryPath(path)
	return ok && key != "" && (a[entry] == nil || b[entry] == nil)
}

// lists are the sections whose entries have names.
var lists = map[string]bool{"adapters": true, "tools": true, "mcp": true, "skills": true, "hooks": true}

func change(path string, was, now json.RawMessage) Change {
	c := Change{Path: path, Was: was, Now: now, Class: classOf(path), Compatible: true}
	if _, key, ok := entryPath(path); ok && key == "" {
		section, name, _ := strings.Cut(path, ".")
		c.What, c.Compatible = entry(section, strings.Trim(name, `"`), was == nil)
		return c
	}
	c.What, c.Compatible = judge(path, was, now)
	return c
}

// entry tells of a named entry that is new or gone.
func entry(section, name string, added bool) (string, bool) {
	one := strings.TrimSuffix(section, "s")
	if added {
		return fmt.Sprintf("%s %s is new", one, name), section != "hooks" // a gate may say no to what passed
	}
	return fmt.Sprintf("%s %s is gone", one, name), section == "hooks"
}

// judge tells of a value, and whether the change of it is compatible.
func judge(path string, was, now json.RawMessage) (string, bool) {
	switch k := kindOf(path); k {
	case textual:
		return textChange(path, was, now), true
	case upper:
		return limit(path, was, now)
	case allows, beside, asks:
		return listChange(path, was, now, k)
	case schema:
		return schemaChange(path, was, now)
	default:
		return fmt.Sprintf("%s: %s -> %s", path, shown(was), shown(now)), k != fixed
	}
}

// textChange says how much of a text is another.
func textChange(path string, was, now json.RawMessage) string {
	a, b := lines(was), lines(now)
	gone, added := without(a, b), without(b, a)
	return fmt.Sprintf("%s: %d lines gone, %d new of %d", path, len(gone), len(added), len(b))
}

func lines(v json.RawMessage) []string {
	var s string
	if json.Unmarshal(v, &s) != nil || s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

func without(all, these []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(these, s) })
}

// limit tells of an upper bound. Absent ones do not bind.
func limit(path string, was, now json.RawMessage) (string, bool) {
	var a, b float64
	if json.Unmarshal(was, &a) != nil || json.Unmarshal(now, &b) != nil {
		return fmt.Sprintf("%s: %s -> %s", path, shown(was), shown(now)), now == nil
	}
	if b < a {
		return fmt.Sprintf("%s is lowered: %s -> %s", path, was, now), false
	}
	return fmt.Sprintf("%s is raised: %s -> %s", path, was, now), true
}

// listChange tells of a list that allows what it has (absent: everything) or that asks for
// something (absent: nothing).
func listChange(path string, was, now json.RawMessage, k kind) (string, bool) {
	a, b := entries(was), entries(now)
	gone, added := without(a, b), without(b, a)
	what := path + ":"
	if len(gone) > 0 {
		what += " no more " + strings.Join(gone, ", ")
	}
	if len(added) > 0 {
		what += " now " + strings.Join(added, ", ")
	}
	switch k {
	case asks:
		return what, len(added) == 0
	case beside: // alone it would keep others out, and the last one gone may let everybody in
		return what, len(gone) == 0 && was != nil
	}
	return what, len(gone) == 0 && was != nil || now == nil
}

func entries(v json.RawMessage) []string {
	var list []any
	if json.Unmarshal(v, &list) != nil {
		return nil
	}
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = fmt.Sprint(e)
	}
	return out
}

func shown(v json.RawMessage) string {
	switch {
	case v == nil:
		return "nothing"
	case len(v) > 80:
		return fmt.Sprintf("%d bytes", len(v))
	}
	return string(v)
}
