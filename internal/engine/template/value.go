package template

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// value is what an expression yields: nil (none), undefined, bool, int64, float64,
// text, *list, *dict, *space, *loop, *function.
type value any

// undefined is a name or attribute that is not there. It prints as nothing and is
// false; anything else that is done with it fails and names it.
type undefined struct{ name string }

// list is a list or a tuple; templates cannot change one.
type list struct {
	items []value
	tuple bool
}

// dict keeps its keys in order. A key is a text or a number.
type dict struct {
	keys  []value
	vals  []value
	index map[string]int
}

// space is what namespace() makes, the only thing that templates can change.
type space struct{ vars map[string]value }

// function is a macro, a method of a value or a global.
type function struct {
	name string
	call func(m *machine, a args) value
}

// args are the evaluated arguments of a call.
type args struct {
	pos   []value
	named map[string]value
}

// get is the i-th positional argument or else the named one.
func (a args) get(i int, name string) (value, bool) {
	if i < len(a.pos) {
		return a.pos[i], true
	}
	v, ok := a.named[name]
	return v, ok
}

// or is get with a default.
func (a args) or(i int, name string, def value) value {
	if v, ok := a.get(i, name); ok {
		return v
	}
	return def
}

// key makes the index form of a dict key.
func key(v value) string {
	switch x := v.(type) {
	case text:
		return "s" + x.s
	case nil:
		return "n"
	case undefined:
		return "u"
	case bool, int64, float64:
		n, _ := number(x)
		return "i" + formatFloat(n.float())
	}
	fail("a %s cannot be a key", kindOf(v))
	return ""
}

func (d *dict) get(k string) (value, bool) {
	i, ok := d.index["s"+k]
	if !ok {
		return nil, false
	}
	return d.vals[i], true
}

// set adds or replaces; only code that builds a dict calls it.
func (d *dict) set(k, v value) {
	if d.index == nil {
		d.index = map[string]int{}
	}
	id := key(k)
	if i, ok := d.index[id]; ok {
		d.vals[i] = v
		return
	}
	d.index[id] = len(d.keys)
	d.keys = append(d.keys, k)
	d.vals = append(d.vals, v)
}

// pairs is the dict as a list of (key, value) tuples.
func (d *dict) pairs() *list {
	out := &list{}
	for i := range d.keys {
		out.items = append(out.items, &list{items: []value{d.keys[i], d.vals[i]}, tuple: true})
	}
	return out
}

func kindOf(v value) string {
	switch x := v.(type) {
	case nil:
		return "none"
	case undefined:
		return "undefined value"
	case bool:
		return "boolean"
	case int64, float64:
		return "number"
	case text:
		return "text"
	case *list:
		if x.tuple {
			return "tuple"
		}
		return "list"
	case *dict:
		return "mapping"
	case *space:
		return "namespace"
	case *loop:
		return "loop"
	}
	return "function"
}

// truth is Python's: empty and zero are false.
func truth(v value) bool {
	switch x := v.(type) {
	case nil, undefined:
		return false
	case bool:
		return x
	case int64:
		return x != 0
	case float64:
		return x != 0
	case text:
		return x.s != ""
	case *list:
		return len(x.items) > 0
	case *dict:
		return len(x.keys) > 0
	}
	return true
}

// items lists what a loop over v goes through.
func (m *machine) items(v value) []value {
	switch x := v.(type) {
	case undefined:
		return nil
	case *list:
		return x.items
	case *dict:
		return x.keys
	case text:
		m.payItems(utf8.RuneCountInString(x.s))
		var out []value
		for at := 0; at < len(x.s); {
			_, n := utf8.DecodeRuneInString(x.s[at:])
			out = append(out, x.sub(at, at+n))
			at += n
		}
		return out
	}
	fail("a %s cannot be looped over", kindOf(v))
	return nil
}

// length is Python's len; texts count runes.
func length(v value) int64 {
	switch x := v.(type) {
	case undefined:
		return 0
	case text:
		return int64(utf8.RuneCountInString(x.s))
	case *list:
		return int64(len(x.items))
	case *dict:
		return int64(len(x.keys))
	}
	fail("a %s has no length", kindOf(v))
	return 0
}

// equal is Python's ==.
func (m *machine) equal(a, b value) bool {
	m.spend(1)
	defer m.deeper()()
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x.compare(y) == 0
	}
	switch x := a.(type) {
	case nil:
		return b == nil
	case undefined:
		_, ok := b.(undefined)
		return ok
	case text:
		y, ok := b.(text)
		m.scan(len(x.s))
		return ok && x.s == y.s
	case *list:
		y, ok := b.(*list)
		return ok && x.tuple == y.tuple && slices.EqualFunc(x.items, y.items, m.equal)
	case *dict:
		y, ok := b.(*dict)
		if !ok || len(x.keys) != len(y.keys) {
			return false
		}
		for k, i := range x.index {
			j, ok := y.index[k]
			if !ok || !m.equal(x.vals[i], y.vals[j]) {
				return false
			}
		}
		return true
	}
	return a == b
}

// compare orders numbers, texts and lists; anything else fails.
func (m *machine) compare(a, b value) int {
	m.spend(1)
	defer m.deeper()()
	if x, ok := number(a); ok {
		if y, ok := number(b); ok {
			return x.compare(y)
		}
	}
	if x, ok := a.(text); ok {
		if y, ok := b.(text); ok {
			m.scan(min(len(x.s), len(y.s)))
			return strings.Compare(x.s, y.s)
		}
	}
	if x, ok := a.(*list); ok {
		if y, ok := b.(*list); ok {
			return slices.CompareFunc(x.items, y.items, m.compare)
		}
	}
	fail("a %s and a %s cannot be ordered", kindOf(a), kindOf(b))
	return 0
}
