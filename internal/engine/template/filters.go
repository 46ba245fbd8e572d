package template

import (
	"slices"
	"strconv"
	"strings"
)

// filter is v|name(args).
type filter func(m *machine, v value, a args) value

var filters map[string]filter

func init() { // not a literal: map and select refer back to the table
	filters = map[string]filter{
		"tojson": toJSON, "trim": textFilter("strip"), "upper": textFilter("upper"), "lower": textFilter("lower"),
		"capitalize": textFilter("capitalize"), "title": func(m *machine, v value, a args) value { return mapping(titleWords)(m, m.str(v), a) }, "replace": textFilter("replace"),
		"string": func(m *machine, v value, _ args) value { return m.str(v) },
		"safe":   func(m *machine, v value, _ args) value { return v },
		"length": countFilter, "count": countFilter, "default": defaultFilter, "d": defaultFilter,
		"first": firstFilter, "last": lastFilter, "list": listFilter, "reverse": reverseFilter,
		"join": joinFilter, "indent": indentFilter, "items": itemsFilter, "dictsort": dictsortFilter,
		"map": mapFilter, "select": selecting(true, false), "reject": selecting(false, false),
		"selectattr": selecting(true, true), "rejectattr": selecting(false, true),
		"sort": sortFilter, "unique": uniqueFilter, "sum": sumFilter, "min": extreme(-1), "max": extreme(1),
		"abs": absFilter, "int": intFilter, "float": floatFilter, "round": roundFilter,
		"format": func(m *machine, v value, a args) value { return m.percent(m.str(v), &list{items: a.pos, tuple: true}) },
	}
}

// textFilter applies a method of texts to the value's text.
func textFilter(name string) filter {
	return func(m *machine, v value, a args) value { return textMethods[name].call(m, m.str(v), a) }
}

func countFilter(_ *machine, v value, _ args) value { return length(v) }

func defaultFilter(_ *machine, v value, a args) value {
	_, missing := v.(undefined)
	if missing || truth(a.or(1, "boolean", false)) && !truth(v) {
		return a.or(0, "default_value", own(""))
	}
	return v
}

func firstFilter(m *machine, v value, _ args) value {
	if items := m.items(v); len(items) > 0 {
		return items[0]
	}
	return undefined{"the first of nothing"}
}

func lastFilter(m *machine, v value, _ args) value {
	if items := m.items(v); len(items) > 0 {
		return items[len(items)-1]
	}
	return undefined{"the last of nothing"}
}

func listFilter(m *machine, v value, _ args) value {
	items := m.items(v)
	m.payItems(len(items))
	return &list{items: items}
}

func reverseFilter(m *machine, v value, _ args) value {
	items := m.items(v)
	m.payItems(len(items))
	out := slices.Clone(items)
	slices.Reverse(out)
	if _, ok := v.(text); ok {
		b := m.builder()
		for _, c := range out {
			b.add(c.(text))
		}
		return b.text()
	}
	return &list{items: out}
}

// attribute follows a dotted path, or an index, into a value.
func (m *machine) attribute(v, path value) value {
	p, ok := path.(text)
	if !ok {
		return m.index(v, path)
	}
	for _, part := range strings.Split(p.s, ".") {
		m.spend(1)
		if n, err := strconv.ParseInt(part, 10, 64); err == nil {
			v = m.index(v, n)
			continue
		}
		v = m.index(v, own(part))
	}
	return v
}

func joinFilter(m *machine, v value, a args) value {
	path, byAttr := a.get(1, "attribute")
	var parts []text
	for _, item := range m.items(v) {
		m.payItems(1)
		if byAttr {
			item = m.attribute(item, path)
		}
		parts = append(parts, m.str(item))
	}
	return m.join(parts, m.str(a.or(0, "d", own(""))))
}

func indentFilter(m *machine, v value, a args) value {
	pad, ok := a.or(0, "width", int64(4)).(text)
	if !ok {
		n, ok := number(a.or(0, "width", int64(4)))
		if !ok || !n.whole || n.i > 1000 {
			fail("indent takes a small number")
		}
		pad = own(strings.Repeat(" ", int(max(n.i, 0))))
	}
	first, blank := truth(a.or(1, "first", false)), truth(a.or(2, "blank", false))
	b := m.builder()
	t := m.str(v)
	lines := t.lines(m, false)
	if n := len(t.s); n == 0 || t.s[n-1] == '\n' { // the filter keeps a last empty line
		lines = append(lines, text{})
	}
	for i, line := range lines {
		if i > 0 {
			b.own("\n")
		}
		if i == 0 && first || i > 0 && (blank || line.s != "") {
			b.add(pad)
		}
		b.add(line)
	}
	return b.text()
}

func itemsFilter(m *machine, v value, _ args) value {
	switch x := v.(type) {
	case undefined:
		return &list{}
	case *dict:
		m.payItems(3 * len(x.keys))
		return x.pairs()
	}
	fail("items takes a mapping, not a %s", kindOf(v))
	return nil
}

func dictsortFilter(m *machine, v value, a args) value {
	d, ok := v.(*dict)
	if !ok {
		fail("dictsort takes a mapping, not a %s", kindOf(v))
	}
	by := 0
	if t, ok := a.or(1, "by", own("key")).(text); ok && t.s == "value" {
		by = 1
	}
	m.payItems(3 * len(d.keys))
	out := d.pairs()
	m.order(out.items, truth(a.or(0, "case_sensitive", false)), truth(a.or(2, "reverse", false)),
		func(v value) value { return v.(*list).items[by] })
	return out
}

// order sorts items by a key; texts are compared without case unless told.
func (m *machine) order(items []value, cased, reverse bool, key func(value) value) {
	fold := func(v value) value {
		v = key(v)
		if t, ok := v.(text); ok && !cased {
			m.scan(len(t.s))
			return own(strings.ToLower(t.s))
		}
		return v
	}
	slices.SortStableFunc(items, func(a, b value) int {
		c := m.compare(fold(a), fold(b))
		if reverse {
			return -c
		}
		return c
	})
}

// sortedOrder is the order in which a dict's entries are written.
func sortedOrder(m *machine, d *dict, sorted bool) []int {
	order := make([]int, len(d.keys))
	for i := range order {
		order[i] = i
	}
	if sorted {
		slices.SortStableFunc(order, func(a, b int) int { return m.compare(d.keys[a], d.keys[b]) })
	}
	return order
}

func sortFilter(m *machine, v value, a args) value {
	items := m.items(v)
	m.payItems(len(items))
	out := slices.Clone(items)
	m.order(out, truth(a.or(1, "case_sensitive", false)), truth(a.or(0, "reverse", false)), m.keyed(a, 2))
	return &list{items: out}
}

// keyed is the "attribute" argument as a function.
func (m *machine) keyed(a args, at int) func(value) value {
	path, ok := a.get(at, "attribute")
	if !ok || path == nil {
		return func(v value) value { return v }
	}
	return func(v value) value { return m.attribute(v, path) }
}

func uniqueFilter(m *machine, v value, a args) value {
	cased, by := truth(a.or(0, "case_sensitive", false)), m.keyed(a, 1)
	seen := map[string]bool{}
	out := &list{}
	for _, item := range m.items(v) {
		k := by(item)
		if t, ok := k.(text); ok && !cased {
			m.pay(len(t.s))
			k = own(strings.ToLower(t.s))
		}
		m.payItems(2)
		if id := key(k); !seen[id] {
			seen[id] = true
			out.items = append(out.items, item)
		}
	}
	return out
}
