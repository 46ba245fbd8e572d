package template

// text is a string that knows which of its bytes came from the conversation.
type text struct {
	s       string
	foreign []span // ascending, apart, not empty; nil: all of it is the template's own
}

// span is a range of bytes, lo included and hi not.
type span struct{ lo, hi int }

// own makes a text of the template's author.
func own(s string) text { return text{s: s} }

// foreign makes a text from the conversation.
func foreign(s string) text {
	if s == "" {
		return text{}
	}
	return text{s: s, foreign: []span{{0, len(s)}}}
}

// like gives s the trust of t where a change leaves no way to tell bytes apart: a
// text with any foreign byte makes all of s foreign.
func (t text) like(s string) text {
	if len(t.foreign) > 0 {
		return foreign(s)
	}
	return own(s)
}

// sub is the part of t between two byte offsets.
func (t text) sub(lo, hi int) text {
	out := text{s: t.s[lo:hi]}
	for _, f := range t.foreign {
		a, b := max(f.lo, lo), min(f.hi, hi)
		if a < b {
			out.foreign = append(out.foreign, span{a - lo, b - lo})
		}
	}
	return out
}

// segments cuts t where trust changes.
func (t text) segments() []Segment {
	var out []Segment
	at := 0
	add := func(to int, trusted bool) {
		if to > at {
			out = append(out, Segment{Text: t.s[at:to], Trusted: trusted})
			at = to
		}
	}
	for _, f := range t.foreign {
		add(f.lo, true)
		add(f.hi, false)
	}
	add(len(t.s), true)
	return out
}

// builder joins texts. Every byte is paid from the machine's budget.
type builder struct {
	m       *machine
	buf     []byte
	foreign []span
}

func (m *machine) builder() *builder { return &builder{m: m} }

// add appends a text.
func (b *builder) add(t text) *builder {
	b.m.pay(len(t.s))
	at := len(b.buf)
	b.buf = append(b.buf, t.s...)
	for _, f := range t.foreign {
		if n := len(b.foreign); n > 0 && b.foreign[n-1].hi == at+f.lo {
			b.foreign[n-1].hi = at + f.hi
			continue
		}
		b.foreign = append(b.foreign, span{at + f.lo, at + f.hi})
	}
	return b
}

// own appends a text of the program's.
func (b *builder) own(s string) *builder { return b.add(text{s: s}) }

func (b *builder) text() text { return text{s: string(b.buf), foreign: b.foreign} }

// join puts a separator between parts.
func (m *machine) join(parts []text, sep text) text {
	b := m.builder()
	if size := int64(len(sep.s)); len(parts) > 0 && size > m.bytes/int64(len(parts)) {
		fail(messageTooLarge) // before any of it is made
	}
	for i, p := range parts {
		if i > 0 {
			b.add(sep)
		}
		b.add(p)
	}
	return b.text()
}
