package contract

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2/unstable"

	"macaron/internal/errs"
)

// MaxDepth is how many names a key may have, and how deep values may nest.
const MaxDepth = 64

// What a text can make us remember is bounded by the keys that a contract has, these two
// and told. A contract that goes beyond is refused for its counts.
const (
	maxName     = 128   // bytes of a name that the contract's author chooses
	maxElements = 4_096 // of an array, whose places are kept
	told        = 20    // unknown keys that an error names
)

// A place is a line and a column of a file's text, both from 1; the column counts bytes.
type place struct {
	file      string // "" where there is one text only
	line, col int
}

func (p place) String() string {
	s := fmt.Sprintf("line %d, column %d", p.line, p.col)
	if p.file != "" {
		s = p.file + ": " + s
	}
	return s
}

// keys is where the keys of a TOML text stand, by path: "adapters[1].name".
type keys struct {
	file    string
	places  map[string]place
	unknown []unknown      // the first of them
	more    int            // how many others
	starts  []int          // offsets of lines
	tables  map[string]int // how many elements each array of tables has
	deep    bool
	broken  bool // the text is not TOML
}

type unknown struct {
	path string
	in   reflect.Type // what has no such key
	place
}

// findKeys reads the keys of a text, and which of them a type does not have. An error of
// syntax ends it: the decoder tells it better.
func findKeys(file string, text []byte, t reflect.Type) *keys {
	k := &keys{file: file, places: map[string]place{}, tables: map[string]int{}, starts: []int{0}}
	for i, b := range text {
		if b == '\n' {
			k.starts = append(k.starts, i+1)
		}
	}
	var p unstable.Parser
	p.Reset(text)
	at := target{t: t}
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			at = k.descend(target{t: t}, e.Key(), e.Kind == unstable.ArrayTable)
		case unstable.KeyValue:
			k.value(k.descend(at, e.Key(), false), e.Value(), 0)
		}
	}
	k.broken = p.Error() != nil
	return k
}

// target is a path and the type that stands there; off where anything may stand, as below
// a key that is unknown.
type target struct {
	path string
	t    reflect.Type
	off  bool
}

// descend follows the names of a key and notes each. element begins a new element of the
// array of tables that the key names.
func (k *keys) descend(at target, names unstable.Iterator, element bool) target {
	for n := 0; names.Next(); n++ {
		if k.deep = k.deep || n >= MaxDepth; k.deep {
			return target{off: true}
		}
		node := names.Node()
		at = k.child(at, string(node.Data), k.at(int(node.Raw.Offset)))
		last := names.IsLast()
		if at.off {
			continue
		}
		if last && element {
			k.tables[at.path]++
		}
		if count, ok := k.tables[at.path]; ok {
			at = at.element(count - 1)
			k.mark(at, node)
		}
	}
	return at
}

func (k *keys) child(at target, name string, where place) target {
	for !at.off && (at.t.Kind() == reflect.Slice || at.t.Kind() == reflect.Pointer) {
		at.t = at.t.Elem()
	}
	if at.off || at.t == reflect.TypeFor[Object]() {
		return target{off: true}
	}
	next := target{path: join(at.path, name)}
	switch at.t.Kind() {
	case reflect.Map:
		next.t, k.deep = at.t.Elem(), k.deep || len(name) > maxName
	case reflect.Struct:
		if f, ok := find(fieldsOf(at.t), func(f field) bool { return f.key == name }); ok {
			next.t = f.Type
		} else {
			k.note(unknown{errs.Clip(next.path), at.t, where})
		}
	}
	if next.t == nil { // unknown, or below a scalar, which the decoder refuses
		return target{off: true}
	}
	if _, seen := k.places[next.path]; !seen {
		k.places[next.path] = where
	}
	return next
}

func (k *keys) note(u unknown) {
	if len(k.unknown) == told {
		k.more++
		return
	}
	k.unknown = append(k.unknown, u)
}

func (k *keys) value(at target, v *unstable.Node, depth int) {
	if k.deep = k.deep || depth >= MaxDepth; k.deep {
		return
	}
	switch v.Kind {
	case unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			if e := it.Node(); e.Kind == unstable.KeyValue {
				k.value(k.descend(at, e.Key(), false), e.Value(), depth+1)
			}
		}
	case unstable.Array:
		n := 0
		for it := v.Children(); it.Next(); {
			if e := it.Node(); e.Kind != unstable.Comment {
				el := at.element(n)
				k.mark(el, e)
				k.value(el, e, depth+1)
				n++
			}
		}
	}
}

func (at target) element(i int) target {
	if at.off || at.t.Kind() != reflect.Slice || i >= maxElements {
		return target{off: true}
	}
	return target{path: fmt.Sprintf("%s[%d]", at.path, i), t: at.t.Elem()}
}

// mark notes where an element stands, the first time.
func (k *keys) mark(at target, n *unstable.Node) {
	if _, seen := k.places[at.path]; !seen && !at.off {
		k.places[at.path] = k.at(int(n.Raw.Offset))
	}
}

func (k *keys) at(offset int) place {
	i, exact := slices.BinarySearch(k.starts, offset)
	if !exact {
		i--
	}
	return place{file: k.file, line: i + 1, col: offset - k.starts[i] + 1}
}

// err is nil when every key is known and none is too deep.
func (k *keys) err() error {
	if k.deep {
		return errs.New(errs.TooLarge, fmt.Sprintf("the contract nests deeper than %d, or has a name of more than %d bytes", MaxDepth, maxName), "flatten it")
	}
	if len(k.unknown) == 0 {
		return nil
	}
	var parts []string
	for _, u := range k.unknown {
		parts = append(parts, fmt.Sprintf("%s: unknown key %q", u.place, u.path))
	}
	message := strings.Join(parts, "; ")
	if k.more > 0 {
		message += fmt.Sprintf(" (and %d more)", k.more)
	}
	first := k.unknown[0]
	var known []string
	for _, f := range fieldsOf(first.in) {
		known = append(known, f.key)
	}
	slices.Sort(known)
	return errs.New(errs.FormatInvalid, message, "known there: "+strings.Join(known, ", ")+"; docs/formats/hcp.md explains them").In(first.path)
}

// field is a field of a contract with the key that it has in TOML.
type field struct {
	reflect.StructField
	key string
}

// fieldsOf lists the fields of a struct that have a key, those of embedded ones too.
func fieldsOf(t reflect.Type) []field {
	if known, ok := fields.Load(t); ok {
		return known.([]field)
	}
	var out []field
	for _, f := range reflect.VisibleFields(t) {
		if key := f.Tag.Get("toml"); key != "" {
			out = append(out, field{f, key})
		}
	}
	fields.Store(t, out)
	return out
}

var fields sync.Map // reflect.Type -> []field

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
