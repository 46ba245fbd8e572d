package template

import (
	"fmt"
	"strconv"
	"strings"
)

// percent is Python's text % values, with the conversions s r d i f x and %%.
func (m *machine) percent(t text, v value) value {
	vals := []value{v}
	if l, ok := v.(*list); ok && l.tuple {
		vals = l.items
	}
	b := m.builder()
	at := 0
	for {
		i := strings.IndexByte(t.s[at:], '%')
		if i < 0 {
			break
		}
		m.spend(1)
		b.add(t.sub(at, at+i))
		end := at + i + 1
		for end < len(t.s) && strings.IndexByte("0123456789.-+ ", t.s[end]) >= 0 {
			end++
		}
		if end == len(t.s) {
			fail("a format ends after its %%")
		}
		spec, verb := t.s[at+i+1:end], t.s[end]
		at = end + 1
		if verb == '%' {
			b.own("%")
			continue
		}
		if len(vals) == 0 {
			fail("a format has more places than values")
		}
		b.add(m.place(spec, verb, vals[0]))
		vals = vals[1:]
	}
	if _, mapping := v.(*dict); len(vals) > 0 && !mapping {
		fail("a format has fewer places than values")
	}
	return b.add(t.sub(at, len(t.s))).text()
}

// place formats one value as a conversion says.
func (m *machine) place(spec string, verb byte, v value) text {
	if len(spec) > 6 {
		fail("the format %%%s%c is too wide", spec, verb)
	}
	switch verb {
	case 's':
		return m.padded(spec, m.str(v))
	case 'r':
		b := m.builder()
		b.repr(v)
		return m.padded(spec, b.text())
	}
	n, ok := number(v)
	if !ok {
		fail("%%%c needs a number, not a %s", verb, kindOf(v))
	}
	m.pay(1000)
	switch verb {
	case 'd', 'i', 'x', 'X':
		if verb == 'i' {
			verb = 'd'
		}
		if !n.whole {
			n.i = int64(n.f)
		}
		return own(fmt.Sprintf("%"+spec+string(verb), n.i))
	case 'f', 'e', 'g':
		return own(fmt.Sprintf("%"+spec+string(verb), n.float()))
	}
	fail("the format %%%c is not built in", verb)
	return text{}
}

// padded fills a text with blanks to the width of a format.
func (m *machine) padded(spec string, t text) text {
	if spec == "" {
		return t
	}
	width, err := strconv.Atoi(strings.TrimPrefix(spec, "-"))
	if err != nil || width > 999 {
		fail("the format %%%ss is not built in", spec)
	}
	fill := own(strings.Repeat(" ", max(0, width-int(length(t)))))
	if spec[0] == '-' {
		return m.builder().add(t).add(fill).text()
	}
	return m.builder().add(fill).add(t).text()
}

// braces is Python's text.format with the places {}, {0} and {name}, and a number
// format behind a colon.
func (m *machine) braces(t text, a args) value {
	b := m.builder()
	next := 0
	for at := 0; at < len(t.s); {
		i := strings.IndexAny(t.s[at:], "{}")
		if i < 0 {
			b.add(t.sub(at, len(t.s)))
			break
		}
		m.spend(1)
		b.add(t.sub(at, at+i))
		at += i
		if at+1 < len(t.s) && t.s[at+1] == t.s[at] { // {{ and }}
			b.add(t.sub(at, at+1))
			at += 2
			continue
		}
		end := strings.IndexByte(t.s[at:], '}')
		if t.s[at] == '}' || end < 0 {
			fail("a format has a single brace")
		}
		field, spec, _ := strings.Cut(t.s[at+1:at+end], ":")
		at += end + 1
		var v value
		var ok bool
		if field == "" {
			v, ok = a.get(next, "")
			next++
		} else if n, err := strconv.Atoi(field); err == nil && n >= 0 {
			v, ok = a.get(n, "")
		} else {
			v, ok = a.named[field]
		}
		if !ok {
			fail("a format has no value for {%s}", field)
		}
		b.add(m.braced(spec, v))
	}
	return b.text()
}

func (m *machine) braced(spec string, v value) text {
	if spec == "" {
		return m.str(v)
	}
	verb := spec[len(spec)-1]
	if verb >= '0' && verb <= '9' {
		spec, verb = spec+"s", 's'
		if _, ok := v.(int64); ok {
			verb = 'd'
		}
	}
	return m.place(spec[:len(spec)-1], verb, v)
}
