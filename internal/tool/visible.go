package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Hidden stands where a value was that the model must not see.
const Hidden = "[NoAI]"

// withheld is all that a model sees of a result in which hidden values cannot be found.
const withheld = `"[NoAI: the result has another shape than its tool declares and is withheld]"`

// Visible returns the value without what NoAI names. A pointer leads through objects and
// arrays; a member that is not there, or null, is no fault. Where the value has another
// shape than the pointer expects, all of it is withheld: what cannot be found cannot be hidden.
func (r Result) Visible(d Def) json.RawMessage {
	v, _ := r.split(d)
	return v
}

// split returns what may be seen and the scalars that may not.
func (r Result) split(d Def) (json.RawMessage, []any) {
	if len(d.NoAI) == 0 || len(r.Value) == 0 {
		return r.Value, nil
	}
	dec := json.NewDecoder(bytes.NewReader(r.Value))
	dec.UseNumber()
	var tree any
	if dec.Decode(&tree) != nil || dec.More() {
		return json.RawMessage(withheld), nil
	}
	whole := tree
	var hidden []any
	for _, p := range d.NoAI {
		segments, err := parsePointer(p)
		var ok bool
		if tree, ok = hide(tree, segments, &hidden); err != nil || !ok {
			return json.RawMessage(withheld), scalars(whole, nil)
		}
	}
	out, err := encode(tree)
	if err != nil {
		return json.RawMessage(withheld), scalars(whole, nil)
	}
	return out, hidden
}

// hide returns v with the place that segments name replaced; false if v has another shape.
func hide(v any, segments []string, hidden *[]any) (any, bool) {
	if len(segments) == 0 {
		*hidden = scalars(v, *hidden)
		return Hidden, true
	}
	ok := true
	step := func(x any) any {
		y, fits := hide(x, segments[1:], hidden)
		ok = ok && fits
		return y
	}
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for k, x := range v {
			if segments[0] == "*" || segments[0] == k {
				v[k] = step(x)
			}
		}
	case []any:
		i, err := strconv.Atoi(segments[0])
		if segments[0] != "*" && (err != nil || i < 0) {
			return v, false
		}
		for j, x := range v {
			if segments[0] == "*" || i == j {
				v[j] = step(x)
			}
		}
	default:
		return v, v == Hidden // hidden already by another pointer
	}
	return v, ok
}

// field is what a member is called whose name is chosen by who wrote the schema. Other
// names, such as addresses by which rows are filed, are values themselves.
var field = regexp.MustCompile(`^[A-Za-z_]+$`)

// scalars appends the texts and numbers inside v, and the names of members that are no
// words for a field.
func scalars(v any, to []any) []any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if !field.MatchString(k) {
				to = append(to, k)
			}
			to = scalars(x, to)
		}
	case []any:
		for _, x := range v {
			to = scalars(x, to)
		}
	case string, json.Number:
		to = append(to, v)
	}
	return to
}

func encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// ForModel returns what a model is told of the result, at most limit bytes of the value
// and a few more: without NoAI values, wherever in the result they stand.
func (r Result) ForModel(d Def, limit int) string {
	value, hidden := r.split(d)
	var t Taint
	t.learn(hidden)
	var parts []string
	if r.Error != nil {
		parts = append(parts, fmt.Sprintf("error %s: %s", r.Error.Code, t.Clean(r.Error.Message)))
	}
	if len(value) > 0 {
		parts = append(parts, t.Clean(string(value)))
	}
	for _, a := range r.Artifacts {
		if !a.NoAI {
			parts = append(parts, t.Clean(fmt.Sprintf("artifact %s (%s, %d bytes)", a.Name, a.MIME, a.Bytes)))
		}
	}
	return Bounded(strings.Join(parts, "\n"), limit)
}

// Bounded cuts a text at a rune boundary to at most limit bytes and says how much is gone.
func Bounded(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := max(limit, 0)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s\n[%d of %d bytes are left out]", s[:cut], len(s)-cut, len(s))
}

// sortedByLength puts longer texts first, so that a text is replaced before its parts.
func sortedByLength(all map[string]bool) []string {
	out := make([]string, 0, len(all))
	for s := range all {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return out
}
