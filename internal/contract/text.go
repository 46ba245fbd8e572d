package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/canonical"
	"macaron/internal/errs"
)

// Text is the contract as one TOML file without imports and other files, which Parse reads
// to a contract of the same name. One that was read from one file keeps its comments, each above what
// it is about.
func (c *Contract) Text() ([]byte, error) {
	text, err := c.written(func(map[string]any) {})
	if err != nil || bytes.IndexByte(c.said, '#') < 0 {
		return text, err
	}
	if with := commentsOf(c.said).onto(text); len(with) <= MaxBytes {
		return with, nil
	}
	return text, nil
}

// Tree is what Text writes, as TOML decodes it.
func (c *Contract) Tree() (map[string]any, error) {
	m, err := c.fields()
	if err != nil {
		return nil, err
	}
	tables := func(section string) []any { list, _ := m[section].([]any); return list }
	for _, t := range tables("tools") {
		asText(t, "parameters", "result")
	}
	for _, h := range tables("hooks") {
		asText(h, "with")
	}
	return m, nil
}

// ActedBy is the contract with another of its adapters acting in runs.
func (c *Contract) ActedBy(label string) (*Contract, error) {
	text, err := c.written(func(m map[string]any) {
		if agent, ok := m["agent"].(map[string]any); ok {
			agent["adapter"] = label
		}
	})
	if err != nil {
		return nil, err
	}
	return Parse(text)
}

// written is the text of the contract with a change.
func (c *Contract) written(change func(map[string]any)) ([]byte, error) {
	m, err := c.Tree()
	if err != nil {
		return nil, err
	}
	change(m)
	b, err := toml.Marshal(m)
	return b, errs.Wrap(errs.Internal, err, "the contract cannot be written as TOML", "")
}

// fields is the canonical form with Go's values in it; whole numbers are int64.
func (c *Contract) fields() (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(c.bytes))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		return nil, errs.Wrap(errs.Internal, err, "the canonical form is not JSON", "")
	}
	return numbers(m).(map[string]any), nil
}

func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = numbers(e)
		}
	case []any:
		for i, e := range v {
			v[i] = numbers(e)
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64() // canonical.JSON has read it
		return f
	}
	return v
}

// asText writes objects as strings of JSON: TOML has no null.
func asText(table any, keys ...string) {
	m := table.(map[string]any)
	for _, k := range keys {
		if o, ok := m[k].(map[string]any); ok {
			m[k] = string(Object(o).JSON())
		}
	}
}

// Value is one value of a resolved contract.
type Value struct {
	Path string          `json:"path"` // agent.max_turns, tools[2].name
	JSON json.RawMessage `json:"value"`
	From string          `json:"from"` // file, line and column, or FromDefault
}

// FromDefault is where values are from that no file has.
const FromDefault = "default"

// Values lists every value of the resolved contract with where it comes from, in the
// order of their paths. Schemas and other objects are one value.
func (s *Source) Values() ([]Value, error) {
	m, err := s.Contract.fields()
	if err != nil {
		return nil, err
	}
	var out []Value
	s.values("", m, &out)
	sort.SliceStable(out, func(i, j int) bool { return section(out[i].Path) < section(out[j].Path) })
	return out, nil
}

// section is the first name of a path.
func section(path string) string {
	name, _, _ := strings.Cut(path, ".")
	name, _, _ = strings.Cut(name, "[")
	return name
}

func (s *Source) values(path string, v any, out *[]Value) {
	switch v := v.(type) {
	case map[string]any:
		if !whole(path) {
			keys := make([]string, 0, len(v))
			for k := range v {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			for _, k := range keys {
				s.values(join(path, k), v[k], out)
			}
			return
		}
	case []any:
		if len(v) > 0 {
			if _, tables := v[0].(map[string]any); tables {
				for i, e := range v {
					s.values(fmt.Sprintf("%s[%d]", path, i), e, out)
				}
				return
			}
		}
	}
	b, err := canonical.Bytes(v)
	if err != nil {
		return // it came out of JSON
	}
	*out = append(*out, Value{Path: path, JSON: b, From: s.from(path)})
}

// whole reports whether a path is that of an object that is shown as one value.
func whole(path string) bool {
	for _, end := range []string{".parameters", ".result", ".with", ".headers"} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}

// from tells where a value comes from. What no file has was filled in.
func (s *Source) from(path string) string {
	n := s.tree
	for _, step := range steps(path) {
		if n = n.child(step); n == nil {
			return FromDefault
		}
	}
	return n.at.String()
}
