package template

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// splitting is split and rsplit.
func splitting(fromRight bool) func(*machine, text, args) value {
	return func(m *machine, t text, a args) value {
		limit := int64(-1)
		if n, ok := whole(a.or(1, "maxsplit", int64(-1))); ok {
			limit = n
		}
		if limit < 0 {
			limit = math.MaxInt64
		}
		m.scan(len(t.s))
		if v := a.or(0, "sep", nil); v == nil {
			return m.splitBlanks(t, limit, fromRight)
		}
		sep := textArg(a, 0, "sep").s
		if sep == "" {
			fail("split needs a separator that is not empty")
		}
		return m.splitAt(t, sep, limit, fromRight)
	}
}

func (m *machine) splitAt(t text, sep string, limit int64, fromRight bool) value {
	out := &list{}
	lo, hi := 0, len(t.s)
	for ; limit > 0; limit-- {
		m.payItems(1)
		if fromRight {
			i := strings.LastIndex(t.s[:hi], sep)
			if i < 0 {
				break
			}
			out.items = append(out.items, t.sub(i+len(sep), hi))
			hi = i
			continue
		}
		i := strings.Index(t.s[lo:], sep)
		if i < 0 {
			break
		}
		out.items = append(out.items, t.sub(lo, lo+i))
		lo += i + len(sep)
	}
	out.items = append(out.items, t.sub(lo, hi))
	if fromRight {
		slices.Reverse(out.items)
	}
	return out
}

// splitBlanks splits at runs of whitespace, without empty parts.
func (m *machine) splitBlanks(t text, limit int64, fromRight bool) value {
	var words []span
	start := -1
	for at := 0; at < len(t.s); {
		r, n := utf8.DecodeRuneInString(t.s[at:])
		if pySpace(r) != (start < 0) {
			if start < 0 {
				start = at
			} else {
				m.payItems(1)
				words = append(words, span{start, at})
				start = -1
			}
		}
		at += n
	}
	if start >= 0 {
		words = append(words, span{start, len(t.s)})
	}
	if int64(len(words)) > limit { // the rest stays whole, with the blanks at its far end
		n := int(limit)
		if fromRight {
			words = append([]span{{0, words[len(words)-n-1].hi}}, words[len(words)-n:]...)
		} else {
			words = append(words[:n:n], span{words[n].lo, len(t.s)})
		}
	}
	out := &list{}
	for _, w := range words {
		m.payItems(1)
		out.items = append(out.items, t.sub(w.lo, w.hi))
	}
	return out
}

func splitLines(m *machine, t text, a args) value {
	out := &list{}
	for _, line := range t.lines(m, truth(a.or(0, "keepends", false))) {
		out.items = append(out.items, line)
	}
	return out
}

// lines splits at Python's line ends; a last empty line does not count.
func (t text) lines(m *machine, keep bool) []text {
	m.scan(len(t.s))
	var out []text
	start := 0
	for at := 0; at < len(t.s); {
		r, n := utf8.DecodeRuneInString(t.s[at:])
		end := at
		at += n
		if !strings.ContainsRune("\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r) {
			continue
		}
		if r == '\r' && at < len(t.s) && t.s[at] == '\n' {
			at++
		}
		if keep {
			end = at
		}
		m.payItems(1)
		out = append(out, t.sub(start, end))
		start = at
	}
	if start < len(t.s) {
		out = append(out, t.sub(start, len(t.s)))
	}
	return out
}

func replacing(m *machine, t text, a args) value {
	from, v := textArg(a, 0, "old").s, textArg(a, 1, "new")
	limit := int64(-1)
	if n, ok := whole(a.or(2, "count", nil)); ok {
		limit = n
	}
	m.scan(len(t.s))
	b := m.builder()
	at := 0
	for limit != 0 {
		i := strings.Index(t.s[at:], from)
		if from == "" && at < len(t.s) { // between all runes
			_, i = utf8.DecodeRuneInString(t.s[at:])
			if at == 0 && len(b.buf) == 0 {
				i = 0
			}
		}
		if i < 0 || from == "" && at == len(t.s) && at > 0 {
			break
		}
		m.spend(1)
		b.add(t.sub(at, at+i)).add(v)
		at += i + len(from)
		limit--
		if from == "" && len(t.s) == 0 {
			break
		}
	}
	return b.add(t.sub(at, len(t.s))).text()
}
