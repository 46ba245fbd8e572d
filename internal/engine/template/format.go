package template

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// str is Python's str(): what {{ }} prints.
func (m *machine) str(v value) text {
	switch x := v.(type) {
	case text:
		return x
	case undefined:
		return text{}
	}
	b := m.builder()
	b.repr(v)
	return b.text()
}

// repr appends Python's repr of a value.
func (b *builder) repr(v value) {
	b.m.spend(1)
	defer b.m.deeper()()
	switch x := v.(type) {
	case nil:
		b.own("None")
	case bool:
		b.own(map[bool]string{true: "True", false: "False"}[x])
	case int64:
		b.own(strconv.FormatInt(x, 10))
	case float64:
		b.own(formatFloat(x))
	case text:
		b.quoted(x)
	case undefined:
		b.own("Undefined")
	case *list:
		b.reprList(x)
	case *dict:
		b.own("{")
		for i := range x.keys {
			if i > 0 {
				b.own(", ")
			}
			b.repr(x.keys[i])
			b.own(": ")
			b.repr(x.vals[i])
		}
		b.own("}")
	default:
		b.own("<" + kindOf(v) + ">")
	}
}

func (b *builder) reprList(x *list) {
	open, end := "[", "]"
	if x.tuple {
		open, end = "(", ")"
		if len(x.items) == 1 {
			end = ",)"
		}
	}
	b.own(open)
	for i, item := range x.items {
		if i > 0 {
			b.own(", ")
		}
		b.repr(item)
	}
	b.own(end)
}

// quoted appends Python's repr of a text.
func (b *builder) quoted(t text) {
	quote := byte('\'')
	if strings.Contains(t.s, "'") && !strings.Contains(t.s, `"`) {
		quote = '"'
	}
	b.own(string(quote))
	b.escaped(t, func(r rune) string {
		switch {
		case r == rune(quote) || r == '\\':
			return `\` + string(r)
		case r == '\n':
			return `\n`
		case r == '\r':
			return `\r`
		case r == '\t':
			return `\t`
		case r == ' ' || unicode.IsPrint(r):
			return ""
		case r < 0x100:
			return fmt.Sprintf(`\x%02x`, r)
		case r < 0x10000:
			return fmt.Sprintf(`\u%04x`, r)
		}
		return fmt.Sprintf(`\U%08x`, r)
	})
	b.own(string(quote))
}

// escaped appends t with some runes replaced; "" keeps a rune. A replacement has
// the trust of the rune it stands for.
func (b *builder) escaped(t text, replace func(rune) string) {
	b.m.scan(len(t.s))
	kept := 0
	for at := 0; at < len(t.s); {
		r, n := utf8.DecodeRuneInString(t.s[at:])
		if s := replace(r); s != "" {
			b.add(t.sub(kept, at))
			b.add(t.sub(at, at+n).like(s))
			kept = at + n
		}
		at += n
	}
	b.add(t.sub(kept, len(t.s)))
}

// jsonStyle is the options of Python's json.dumps.
type jsonStyle struct {
	ascii     bool
	indent    text // one level, when pretty
	pretty    bool
	item, key text // separators
	sorted    bool
}

// toJSON is the filter tojson of the transformers library, which does not escape
// for HTML.
func toJSON(m *machine, v value, a args) value {
	st := jsonStyle{ascii: truth(a.or(0, "ensure_ascii", false)), sorted: truth(a.or(3, "sort_keys", false)), item: own(", "), key: own(": ")}
	switch x := a.or(1, "indent", nil).(type) {
	case nil:
	case text:
		st.pretty, st.indent = true, x
	default:
		n, ok := number(x)
		if !ok || !n.whole || n.i > 1000 {
			fail("tojson takes a small number as indent")
		}
		st.pretty, st.indent = true, own(strings.Repeat(" ", int(max(n.i, 0))))
	}
	if st.pretty {
		st.item = own(",")
	}
	if l, ok := a.or(2, "separators", nil).(*list); ok && len(l.items) == 2 {
		st.item, st.key = m.str(l.items[0]), m.str(l.items[1])
	}
	b := m.builder()
	b.json(v, st, 0)
	return b.text()
}

func (b *builder) json(v value, st jsonStyle, depth int) {
	b.m.spend(1)
	defer b.m.deeper()()
	switch x := v.(type) {
	case nil:
		b.own("null")
	case bool:
		b.own(strconv.FormatBool(x))
	case int64:
		b.own(strconv.FormatInt(x, 10))
	case float64:
		b.own(strings.NewReplacer("inf", "Infinity", "nan", "NaN").Replace(formatFloat(x)))
	case text:
		b.jsonText(x, st)
	case *list:
		b.jsonItems("[", "]", len(x.items), st, depth, func(i int) { b.json(x.items[i], st, depth+1) })
	case *dict:
		order := sortedOrder(b.m, x, st.sorted)
		b.jsonItems("{", "}", len(order), st, depth, func(i int) {
			b.jsonKey(x.keys[order[i]], st)
			b.add(st.key)
			b.json(x.vals[order[i]], st, depth+1)
		})
	default:
		fail("a %s has no JSON form", kindOf(v))
	}
}

func (b *builder) jsonItems(open, end string, n int, st jsonStyle, depth int, item func(int)) {
	b.own(open)
	newline := func(depth int) {
		if !st.pretty || n == 0 {
			return
		}
		b.own("\n")
		for range depth {
			b.m.spend(1)
			b.add(st.indent)
		}
	}
	for i := range n {
		if i > 0 {
			b.add(st.item)
		}
		newline(depth + 1)
		item(i)
	}
	newline(depth)
	b.own(end)
}

func (b *builder) jsonKey(k value, st jsonStyle) {
	if t, ok := k.(text); ok {
		b.jsonText(t, st)
		return
	}
	b.own(`"`)
	b.json(k, st, 0)
	b.own(`"`)
}

var jsonEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}

func (b *builder) jsonText(t text, st jsonStyle) {
	b.own(`"`)
	b.escaped(t, func(r rune) string {
		if s := jsonEscapes[r]; s != "" {
			return s
		}
		if r >= ' ' && (!st.ascii || r < 0x7f) {
			return ""
		}
		if r >= 0x10000 {
			r -= 0x10000
			return fmt.Sprintf(`\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
	b.own(`"`)
}
