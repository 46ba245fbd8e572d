package edit

import (
	"regexp"
	"slices"
	"strings"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
)

var (
	label      = regexp.MustCompile(adapter.NamePattern)
	identifier = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
)

// on makes an edit in the tree of a contract's text.
func (k Kind) on(tree map[string]any, e mindforge.Edit) error {
	v, err := k.value(e.Value)
	if err != nil {
		return err
	}
	path, id, lines := strings.Cut(e.Component, "#")
	section, rest, _ := strings.Cut(path, ".")
	list, named := tree[section].([]any)
	if !named && !slices.Contains([]string{"tools", "skills", "hooks", "adapters"}, section) {
		return k.inTable(tree, path, id, lines, v)
	}
	if k.form == table || k.op == remove && !lines {
		tree[section], err = k.inList(list, rest, v)
		if l, _ := tree[section].([]any); err == nil && len(l) == 0 {
			delete(tree, section)
		}
		return err
	}
	name, key := rest[:strings.LastIndex(rest, ".")], rest[strings.LastIndex(rest, ".")+1:]
	at := slices.IndexFunc(list, func(x any) bool { return nameOf(x) == name })
	if at < 0 {
		return absent(name)
	}
	return k.inTable(list[at].(map[string]any), key, id, lines, v)
}

// inTable sets or removes a value by its path below a table, or a line of a text there.
func (k Kind) inTable(t map[string]any, path, id string, lines bool, v any) error {
	parts := strings.Split(path, ".")
	for _, p := range parts[:len(parts)-1] {
		below, ok := t[p].(map[string]any)
		if !ok {
			if k.op != put {
				return absent(path)
			}
			below = map[string]any{}
			t[p] = below
		}
		t = below
	}
	key := parts[len(parts)-1]
	if lines {
		s, _ := t[key].(string)
		if s == "" {
			return absent(path)
		}
		s, err := k.inText(s, id, v)
		t[key] = s
		return err
	}
	was, there := t[key]
	switch {
	case k.op != put && !there:
		return absent(path)
	case there && same(was, v):
		return unchanged()
	case k.op == remove:
		delete(t, key)
	default:
		t[key] = v
	}
	return nil
}

// inList adds or removes an entry. A new one goes behind the last whose name is not greater,
// so that entries of two edits stand in the same order whichever was made first.
func (k Kind) inList(list []any, name string, v any) ([]any, error) {
	at := slices.IndexFunc(list, func(x any) bool { return nameOf(x) == name })
	if k.op == remove {
		if at < 0 {
			return nil, absent(name)
		}
		return slices.Delete(list, at, at+1), nil
	}
	if at >= 0 {
		return nil, there(name)
	}
	e := v.(map[string]any)
	e["name"] = name
	return slices.Insert(list, place(len(list), name, func(i int) string { return nameOf(list[i]) }), any(e)), nil
}

// place is where a name goes in a list of n.
func place(n int, name string, nth func(int) string) int {
	for n > 0 && nth(n-1) > name {
		n--
	}
	return n
}

// same compares a value of the tree, where whole numbers are integers, with an edit's.
func same(was, v any) bool {
	n, whole := was.(int64)
	f, part := v.(float64)
	return was == v || whole && part && float64(n) == f
}

func nameOf(entry any) string {
	t, _ := entry.(map[string]any)
	name, _ := t["name"].(string)
	return name
}

func absent(name string) error {
	return badf("", "%s is not there", errs.Clip(name))
}

func there(name string) error {
	return badf("remove it, or replace it", "%s is there already", errs.Clip(name))
}
