package template

import (
	"slices"
	"strings"
)

func (e *litExpr) eval(*machine) value { return e.v }

func (e *nameExpr) eval(m *machine) value { return m.lookup(e.name) }

func (e *listExpr) eval(m *machine) value {
	m.payItems(len(e.items))
	out := &list{tuple: e.tuple}
	for _, x := range e.items {
		out.items = append(out.items, m.eval(x))
	}
	return out
}

func (e *dictExpr) eval(m *machine) value {
	m.payItems(2 * len(e.keys))
	out := &dict{}
	for i := range e.keys {
		out.set(m.eval(e.keys[i]), m.eval(e.vals[i]))
	}
	return out
}

func (e *attrExpr) eval(m *machine) value { return m.attr(m.eval(e.x), e.name) }

func (e *indexExpr) eval(m *machine) value { return m.index(m.eval(e.x), m.eval(e.i)) }

func (e *callExpr) eval(m *machine) value {
	fn := m.eval(e.fn)
	return m.call(fn, e.arguments(m))
}

func (e *callExpr) arguments(m *machine) args {
	var a args
	for _, x := range e.args {
		a.pos = append(a.pos, m.eval(x))
	}
	for i, k := range e.keys {
		if a.named == nil {
			a.named = map[string]value{}
		}
		a.named[k] = m.eval(e.vals[i])
	}
	return a
}

func (m *machine) call(fn value, a args) value {
	m.spend(1)
	f, ok := fn.(*function)
	if !ok {
		if u, ok := fn.(undefined); ok {
			fail("%q is not defined", u.name)
		}
		fail("a %s cannot be called", kindOf(fn))
	}
	return f.call(m, a)
}

func (e *filterExpr) eval(m *machine) value { return e.apply(m, m.eval(e.x)) }

func (e *filterExpr) apply(m *machine, v value) value {
	return m.filter(e.name)(m, v, e.arguments(m))
}

// filter finds a filter. Like Python's, a template may name an unknown one where it
// is never reached.
func (m *machine) filter(name string) filter {
	m.spend(1)
	f, ok := filters[name]
	if !ok {
		fail("the filter %q is not built in", name)
	}
	return f
}

func (e *testExpr) eval(m *machine) value {
	var a args
	for _, x := range e.args {
		a.pos = append(a.pos, m.eval(x))
	}
	return tests[e.name](m, m.eval(e.x), a)
}

func (e *notExpr) eval(m *machine) value { return !truth(m.eval(e.x)) }

func (e *plusExpr) eval(m *machine) value { return m.sign("+", m.eval(e.x)) }

func (e *signExpr) eval(m *machine) value { return m.sign("-", m.eval(e.x)) }

func (m *machine) sign(op string, v value) value {
	n, ok := number(v)
	if !ok {
		fail("a %s has no sign", kindOf(v))
	}
	if !n.whole && op == "-" {
		return -n.f
	}
	return arithmetic(op, num{whole: true}, n)
}

func (e *logicExpr) eval(m *machine) value {
	l := m.eval(e.l)
	if truth(l) == e.or {
		return l
	}
	return m.eval(e.r)
}

func (e *condExpr) eval(m *machine) value {
	if truth(m.eval(e.cond)) {
		return m.eval(e.then)
	}
	if e.alt == nil {
		return undefined{"the missing else of an inline if"}
	}
	return m.eval(e.alt)
}

func (e *compareExpr) eval(m *machine) value {
	l := m.eval(e.first)
	for i, op := range e.ops {
		r := m.eval(e.rest[i])
		if !m.holds(op, l, r) {
			return false
		}
		l = r
	}
	return true
}

func (m *machine) holds(op string, l, r value) bool {
	switch op {
	case "==":
		return m.equal(l, r)
	case "!=":
		return !m.equal(l, r)
	case "in":
		return m.contains(r, l)
	case "not in":
		return !m.contains(r, l)
	case "<":
		return m.compare(l, r) < 0
	case "<=":
		return m.compare(l, r) <= 0
	case ">":
		return m.compare(l, r) > 0
	}
	return m.compare(l, r) >= 0
}

// contains is Python's in.
func (m *machine) contains(box, v value) bool {
	switch b := box.(type) {
	case text:
		x, ok := v.(text)
		if !ok {
			fail("a %s cannot be in a text", kindOf(v))
		}
		m.scan(len(b.s))
		return strings.Contains(b.s, x.s)
	case *list:
		return slices.ContainsFunc(b.items, func(item value) bool { return m.equal(item, v) })
	case *dict:
		_, ok := b.index[key(v)]
		return ok
	case *space:
		x, ok := v.(text)
		if _, has := b.vars[x.s]; ok {
			return has
		}
	case undefined:
		return false
	}
	fail("a %s holds nothing", kindOf(box))
	return false
}

func (e *binaryExpr) eval(m *machine) value {
	l, r := m.eval(e.l), m.eval(e.r)
	if e.op == "~" {
		return m.builder().add(m.str(l)).add(m.str(r)).text()
	}
	if a, ok := number(l); ok {
		if b, ok := number(r); ok {
			return arithmetic(e.op, a, b)
		}
	}
	if e.op == "*" {
		if _, ok := number(l); ok {
			l, r = r, l
		}
		if n, ok := number(r); ok && n.whole {
			return m.repeat(l, n.i)
		}
	}
	if t, ok := l.(text); ok {
		if e.op == "%" {
			return m.percent(t, r)
		}
		if u, ok := r.(text); ok && e.op == "+" {
			return m.builder().add(t).add(u).text()
		}
	}
	if a, ok := l.(*list); ok && e.op == "+" {
		if b, ok := r.(*list); ok && a.tuple == b.tuple {
			m.payItems(len(a.items) + len(b.items))
			return &list{items: slices.Concat(a.items, b.items), tuple: a.tuple}
		}
	}
	for _, v := range []value{l, r} {
		if u, ok := v.(undefined); ok {
			fail("%q is not defined", u.name)
		}
	}
	fail("the operator %s does not take a %s and a %s", e.op, kindOf(l), kindOf(r))
	return nil
}

// repeat is text or list times n.
func (m *machine) repeat(v value, n int64) value {
	n = max(n, 0)
	switch x := v.(type) {
	case text:
		if n > 0 && int64(len(x.s)) > m.bytes/n {
			fail(messageTooLarge)
		}
		b := m.builder()
		for range n {
			m.spend(1)
			b.add(x)
		}
		return b.text()
	case *list:
		out := &list{tuple: x.tuple}
		for range n {
			m.spend(1)
			m.payItems(len(x.items))
			out.items = append(out.items, x.items...)
		}
		return out
	}
	fail("a %s cannot be repeated", kindOf(v))
	return nil
}
