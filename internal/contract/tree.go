package contract

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/errs"
)

// node is a value of a contract before it is decoded, with the place that it came from:
// a table, a list, or anything else as the TOML decoder gives it.
type node struct {
	at    place
	table map[string]*node
	list  []*node
	value any
}

func newNode(v any, path string, k *keys, in place) *node {
	n := &node{at: in}
	if at, ok := k.places[path]; ok {
		n.at = at
	}
	switch v := v.(type) {
	case map[string]any:
		n.table = make(map[string]*node, len(v))
		for name, e := range v {
			n.table[name] = newNode(e, join(path, name), k, n.at)
		}
	case []any:
		n.list = make([]*node, len(v))
		for i, e := range v {
			n.list[i] = newNode(e, fmt.Sprintf("%s[%d]", path, i), k, n.at)
		}
	default:
		n.value = v
	}
	return n
}

// over lays a node of some type over another: tables key by key, lists of named tables
// name by name, everything else whole.
func (n *node) over(base *node, t reflect.Type) *node {
	switch {
	case base == nil || t == reflect.TypeFor[Object]():
		return n
	case n.table != nil && base.table != nil:
		out := &node{at: n.at, table: map[string]*node{}}
		for k, v := range base.table {
			out.table[k] = v
		}
		for k, v := range n.table {
			out.table[k] = v.over(base.table[k], typeOf(t, k))
		}
		return out
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && n.list != nil && base.list != nil:
		return n.byName(base, t.Elem())
	}
	return n
}

// byName lays a list of named tables over another: what has the same name changes where
// it stands, what is new comes last.
func (n *node) byName(base *node, t reflect.Type) *node {
	out := &node{at: n.at, list: append([]*node(nil), base.list...)}
	at := map[any]int{}
	for i, e := range base.list {
		at[e.name()] = i
	}
	for _, e := range n.list {
		if i, ok := at[e.name()]; ok && e.name() != nil {
			out.list[i] = e.over(out.list[i], t)
		} else {
			out.list = append(out.list, e)
		}
	}
	return out
}

func (n *node) name() any {
	if name := n.table["name"]; name != nil {
		return name.value
	}
	return nil
}

// typeOf is the type of a key in a type.
func typeOf(t reflect.Type, key string) reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Map {
		return t.Elem()
	}
	f, _ := find(fieldsOf(t), func(f field) bool { return f.key == key })
	return f.Type
}

// plain is the node as the TOML encoder takes it.
func (n *node) plain() any {
	switch {
	case n.table != nil:
		out := make(map[string]any, len(n.table))
		for k, v := range n.table {
			out[k] = v.plain()
		}
		return out
	case n.list != nil:
		out := make([]any, len(n.list))
		for i, v := range n.list {
			out[i] = v.plain()
		}
		return out
	}
	return n.value
}

// decode makes a contract of a tree whose files have all been checked.
func (n *node) decode() (*Contract, error) {
	text, err := toml.Marshal(n.plain())
	if err != nil {
		return nil, errs.Wrap(errs.FormatInvalid, err, "the contract has no text", "")
	}
	c := &Contract{}
	if err := toml.Unmarshal(text, c); err != nil {
		return nil, located("", err)
	}
	return c, nil
}

// find is the place of a path, or of what it is in.
func (n *node) find(path string) place {
	at := n.at
	for _, step := range steps(path) {
		next := n.child(step)
		if next == nil {
			break
		}
		n, at = next, next.at
	}
	return at
}

// child is a value of a table by its key, or of a list by its number; nil if it has none.
func (n *node) child(step string) *node {
	if n.list == nil {
		return n.table[step]
	}
	if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.list) {
		return n.list[i]
	}
	return nil
}

// steps are the names and numbers of a path: a[1].b has three.
func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// locate puts the place of its field before the message of an error.
func (n *node) locate(err error) error {
	var e *errs.Error
	if !errors.As(err, &e) {
		return err
	}
	told := *e
	told.Message = n.find(e.Field).String() + ": " + e.Message
	return &told
}
