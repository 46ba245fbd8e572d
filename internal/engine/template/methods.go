package template

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// method is a function of values of one kind.
type method[T value] struct {
	call func(m *machine, self T, a args) value
}

func (f method[T]) bound(self T) *function {
	return &function{name: "method", call: func(m *machine, a args) value {
		return f.call(m, self, a)
	}}
}

// frozen is a method that Python has and templates may not call.
func frozen[T value](name string) method[T] {
	return method[T]{func(*machine, T, args) value {
		fail("%s would change a value of the conversation", name)
		return nil
	}}
}

var dictMethods = map[string]method[*dict]{
	"get": {func(_ *machine, d *dict, a args) value {
		k, ok := a.get(0, "key")
		if !ok {
			fail("get needs a key")
		}
		if i, ok := d.index[key(k)]; ok {
			return d.vals[i]
		}
		return a.or(1, "default", nil)
	}},
	"items":  {func(m *machine, d *dict, _ args) value { m.payItems(3 * len(d.keys)); return d.pairs() }},
	"keys":   {func(_ *machine, d *dict, _ args) value { return &list{items: d.keys} }},
	"values": {func(_ *machine, d *dict, _ args) value { return &list{items: d.vals} }},
	"copy":   {func(_ *machine, d *dict, _ args) value { return d }},
	"pop":    frozen[*dict]("pop"), "popitem": frozen[*dict]("popitem"), "update": frozen[*dict]("update"),
	"clear": frozen[*dict]("clear"), "setdefault": frozen[*dict]("setdefault"),
}

var listMethods = map[string]method[*list]{
	"index": {func(m *machine, l *list, a args) value {
		i := slices.IndexFunc(l.items, func(v value) bool { return m.equal(v, a.or(0, "value", nil)) })
		if i < 0 {
			fail("the value is not in the list")
		}
		return int64(i)
	}},
	"count": {func(m *machine, l *list, a args) value {
		n := int64(0)
		for _, v := range l.items {
			if m.equal(v, a.or(0, "value", nil)) {
				n++
			}
		}
		return n
	}},
	"append": frozen[*list]("append"), "pop": frozen[*list]("pop"), "extend": frozen[*list]("extend"),
	"insert": frozen[*list]("insert"), "remove": frozen[*list]("remove"), "clear": frozen[*list]("clear"),
	"sort": frozen[*list]("sort"), "reverse": frozen[*list]("reverse"),
}

var textMethods map[string]method[text]

func init() { // not a literal: the filters refer to it and it to them
	textMethods = map[string]method[text]{
		"strip": {stripping(true, true)}, "lstrip": {stripping(true, false)}, "rstrip": {stripping(false, true)},
		"upper": {mapping(upper)}, "lower": {mapping(lower)},
		"capitalize": {mapping(capitalize)}, "title": {mapping(title)},
		"startswith": {affix(strings.HasPrefix)}, "endswith": {affix(strings.HasSuffix)},
		"removeprefix": {removing(true)}, "removesuffix": {removing(false)},
		"split": {splitting(false)}, "rsplit": {splitting(true)}, "splitlines": {splitLines},
		"replace": {replacing}, "join": {joining}, "format": {(*machine).braces},
		"find": {finding(strings.Index, false)}, "rfind": {finding(strings.LastIndex, false)},
		"index": {finding(strings.Index, true)}, "rindex": {finding(strings.LastIndex, true)}, "count": {counting},
		"isdigit": {all(unicode.IsDigit)}, "isnumeric": {all(unicode.IsNumber)}, "isspace": {all(pySpace)}, "isalpha": {all(unicode.IsLetter)},
		"isalnum": {all(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })},
		"isupper": {mappedTo(strings.ToUpper, strings.ToLower)}, "islower": {mappedTo(strings.ToLower, strings.ToUpper)},
	}
}

// textArg is an argument that must be a text.
func textArg(a args, i int, name string) text {
	v, _ := a.get(i, name)
	t, ok := v.(text)
	if !ok {
		fail("a text is needed, not a %s", kindOf(v))
	}
	return t
}

func stripping(left, right bool) func(*machine, text, args) value {
	return func(m *machine, t text, a args) value {
		m.scan(len(t.s))
		cut := pySpace
		if v := a.or(0, "chars", nil); v != nil {
			set := textArg(a, 0, "chars").s
			m.scan(len(t.s) * min(len(set), 16))
			cut = func(r rune) bool { return strings.ContainsRune(set, r) }
		}
		lo, hi := 0, len(t.s)
		if left {
			lo = hi - len(strings.TrimLeftFunc(t.s, cut))
		}
		if right {
			hi = lo + len(strings.TrimRightFunc(t.s[lo:], cut))
		}
		return t.sub(lo, hi)
	}
}

// mapping changes letters; the result is all foreign if any of the text was and
// anything changed.
func mapping(f func(string) string) func(*machine, text, args) value {
	return func(m *machine, t text, _ args) value {
		m.pay(2 * len(t.s))
		s := f(t.s)
		if s == t.s {
			return t
		}
		return t.like(s)
	}
}

// The letters that become several in the other case, beyond what package strings
// does: the usual ones.
var (
	manyUpper = strings.NewReplacer("ß", "SS", "ŉ", "ʼN", "ﬀ", "FF", "ﬁ", "FI", "ﬂ", "FL", "ﬃ", "FFI", "ﬄ", "FFL", "ﬅ", "ST", "ﬆ", "ST")
	manyLower = strings.NewReplacer("İ", "i\u0307")
)

func upper(s string) string { return strings.ToUpper(manyUpper.Replace(s)) }

func lower(s string) string { return strings.ToLower(manyLower.Replace(s)) }

func capitalize(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return upper(s[:n]) + lower(s[n:])
}

// titleWords is the filter title, which knows other word borders than the method.
func titleWords(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		end := strings.IndexFunc(s, func(r rune) bool { return pySpace(r) || strings.ContainsRune("-({[<", r) })
		if end < 0 {
			end = len(s)
		}
		b.WriteString(capitalize(s[:end]))
		_, n := utf8.DecodeRuneInString(s[end:])
		b.WriteString(s[end : end+n])
		s = s[end+n:]
	}
	return b.String()
}

func title(s string) string {
	up := true
	return strings.Map(func(r rune) rune {
		was := up
		up = !unicode.IsLetter(r)
		if was {
			return unicode.ToTitle(r)
		}
		return unicode.ToLower(r)
	}, s)
}

// affix is startswith or endswith, of one text or any of a tuple.
func affix(has func(s, x string) bool) func(*machine, text, args) value {
	return func(m *machine, t text, a args) value {
		if l, ok := a.or(0, "prefix", nil).(*list); ok {
			m.spend(len(l.items))
			return slices.ContainsFunc(l.items, func(v value) bool { x, ok := v.(text); return ok && has(t.s, x.s) })
		}
		return has(t.s, textArg(a, 0, "prefix").s)
	}
}

func removing(prefix bool) func(*machine, text, args) value {
	return func(_ *machine, t text, a args) value {
		x := textArg(a, 0, "affix").s
		if prefix && strings.HasPrefix(t.s, x) {
			return t.sub(len(x), len(t.s))
		}
		if !prefix && strings.HasSuffix(t.s, x) {
			return t.sub(0, len(t.s)-len(x))
		}
		return t
	}
}

func joining(m *machine, t text, a args) value {
	v, _ := a.get(0, "iterable")
	var parts []text
	for _, item := range m.items(v) {
		m.payItems(1)
		x, ok := item.(text)
		if !ok {
			fail("join takes texts only, not a %s", kindOf(item))
		}
		parts = append(parts, x)
	}
	return m.join(parts, t)
}

func finding(index func(s, x string) int, must bool) func(*machine, text, args) value {
	return func(m *machine, t text, a args) value {
		m.scan(len(t.s))
		i := index(t.s, textArg(a, 0, "sub").s)
		if i < 0 && must {
			fail("the part is not in the text")
		}
		if i < 0 {
			return int64(-1)
		}
		return int64(utf8.RuneCountInString(t.s[:i]))
	}
}

func counting(m *machine, t text, a args) value {
	m.scan(len(t.s))
	return int64(strings.Count(t.s, textArg(a, 0, "sub").s))
}

func all(is func(rune) bool) func(*machine, text, args) value {
	return func(m *machine, t text, _ args) value {
		m.scan(len(t.s))
		return t.s != "" && strings.IndexFunc(t.s, func(r rune) bool { return !is(r) }) < 0
	}
}

func mappedTo(same, other func(string) string) func(*machine, text, args) value {
	return func(m *machine, t text, _ args) value {
		m.pay(2 * len(t.s))
		return same(t.s) == t.s && other(t.s) != t.s
	}
}
