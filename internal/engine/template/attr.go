package template

import "unicode/utf8"

// attr is x.name: a method first, then an element, like Jinja.
func (m *machine) attr(x value, name string) value {
	switch v := x.(type) {
	case undefined:
		fail("%q is not defined, so it has no attribute %q", v.name, name)
	case text:
		if f, ok := textMethods[name]; ok {
			return f.bound(v)
		}
	case *dict:
		if f, ok := dictMethods[name]; ok {
			return f.bound(v)
		}
		if item, ok := v.get(name); ok {
			return item
		}
	case *list:
		if f, ok := listMethods[name]; ok {
			return f.bound(v)
		}
	case *space:
		if item, ok := v.vars[name]; ok {
			return item
		}
	case *loop:
		return v.attr(name)
	}
	return undefined{name}
}

func (l *loop) attr(name string) value {
	n := len(l.items)
	at := func(i int) value {
		if i < 0 || i >= n {
			return undefined{"loop." + name}
		}
		return l.items[i]
	}
	switch name {
	case "index":
		return int64(l.at + 1)
	case "index0":
		return int64(l.at)
	case "revindex":
		return int64(n - l.at)
	case "revindex0":
		return int64(n - l.at - 1)
	case "first":
		return l.at == 0
	case "last":
		return l.at == n-1
	case "length":
		return int64(n)
	case "previtem":
		return at(l.at - 1)
	case "nextitem":
		return at(l.at + 1)
	case "cycle":
		return &function{name: "cycle", call: func(m *machine, a args) value {
			if len(a.pos) == 0 {
				fail("loop.cycle needs values")
			}
			return a.pos[l.at%len(a.pos)]
		}}
	case "changed":
		return &function{name: "changed", call: func(m *machine, a args) value {
			now := value(&list{items: a.pos, tuple: true})
			same := l.seen && m.equal(l.changed, now)
			l.changed, l.seen = now, true
			return !same
		}}
	}
	return undefined{"loop." + name}
}

// index is x[i]: an element first, then a method.
func (m *machine) index(x, i value) value {
	switch v := x.(type) {
	case *dict:
		if j, ok := v.index[key(i)]; ok {
			return v.vals[j]
		}
	case *list:
		if n, ok := number(i); ok && n.whole {
			at := n.i
			if at < 0 {
				at += int64(len(v.items))
			}
			if at < 0 || at >= int64(len(v.items)) {
				return undefined{"an element beyond the end of a list"}
			}
			return v.items[at]
		}
	case text:
		if n, ok := number(i); ok && n.whole {
			return m.char(v, n.i)
		}
	}
	if name, ok := i.(text); ok {
		return m.attr(x, name.s)
	}
	if u, ok := x.(undefined); ok {
		fail("%q is not defined, so it has no elements", u.name)
	}
	return undefined{"an element of a " + kindOf(x)}
}

// char is the rune of a text at an index, which may count from the end.
func (m *machine) char(t text, i int64) value {
	m.scan(len(t.s))
	if i < 0 {
		i += int64(utf8.RuneCountInString(t.s))
	}
	if i >= 0 {
		for at := range t.s {
			if i == 0 {
				_, n := utf8.DecodeRuneInString(t.s[at:])
				return t.sub(at, at+n)
			}
			i--
		}
	}
	return undefined{"a character beyond the end of a text"}
}

func (e *sliceExpr) eval(m *machine) value {
	x := m.eval(e.x)
	bound := func(b expr) (int64, bool) {
		if b == nil {
			return 0, false
		}
		v := m.eval(b)
		if v == nil {
			return 0, false
		}
		n, ok := number(v)
		if !ok || !n.whole {
			fail("a slice needs whole numbers, not a %s", kindOf(v))
		}
		return n.i, true
	}
	lo, hasLo := bound(e.lo)
	hi, hasHi := bound(e.hi)
	step, hasStep := bound(e.step)
	if !hasStep {
		step = 1
	}
	if step == 0 {
		fail("a slice has a step of 0")
	}
	n := length(x)
	from, to := sliceRange(n, step, lo, hi, hasLo, hasHi)
	if t, ok := x.(text); ok {
		return m.sliceText(t, from, to, step, n)
	}
	l, ok := x.(*list)
	if !ok {
		fail("a %s cannot be sliced", kindOf(x))
	}
	out := &list{tuple: l.tuple}
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		m.payItems(1)
		out.items = append(out.items, l.items[i])
		if step > n || step < -n {
			break
		}
	}
	return out
}

// sliceRange gives Python's first index and its bound, both clamped to the length.
func sliceRange(n, step, lo, hi int64, hasLo, hasHi bool) (from, to int64) {
	least, most := int64(0), n
	if step < 0 {
		least, most = -1, n-1
	}
	clamp := func(i int64) int64 {
		if i < 0 {
			i += n
		}
		return min(max(i, least), most)
	}
	from, to = least, most
	if step < 0 {
		from, to = most, least
	}
	if hasLo {
		from = clamp(lo)
	}
	if hasHi {
		to = clamp(hi)
	}
	return from, to
}

// sliceText slices by runes; n is their number.
func (m *machine) sliceText(t text, from, to, step, n int64) value {
	m.scan(len(t.s))
	if step == 1 {
		lo, hi := runeOffset(t.s, from), runeOffset(t.s, max(from, to))
		return t.sub(lo, hi)
	}
	chars := m.items(t)
	b := m.builder()
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		m.spend(1)
		b.add(chars[i].(text))
		if step > n || step < -n {
			break
		}
	}
	return b.text()
}

// runeOffset is the byte offset of the i-th rune.
func runeOffset(s string, i int64) int {
	if i == 0 {
		return 0
	}
	if int64(len(s)) == i { // all ASCII, or the end
		return len(s)
	}
	at := 0
	for ; i > 0 && at < len(s); i-- {
		_, n := utf8.DecodeRuneInString(s[at:])
		at += n
	}
	return at
}
