package template

import (
	"fmt"
	"strings"
	"time"
)

// globals are the functions that every template sees.
var globals = map[string]value{
	"raise_exception": global("raise_exception", func(m *machine, a args) value {
		refuse(m.str(a.or(0, "message", own("no reason is given"))).s)
		return nil
	}),
	"namespace": global("namespace", func(m *machine, a args) value {
		ns := &space{vars: map[string]value{}}
		if d, ok := a.or(0, "", nil).(*dict); ok {
			m.payItems(len(d.keys))
			for i, k := range d.keys {
				ns.vars[m.str(k).s] = d.vals[i]
			}
		}
		for k, v := range a.named {
			ns.vars[k] = v
		}
		for k := range ns.vars {
			mayStore(k)
		}
		return ns
	}),
	"dict": global("dict", func(m *machine, a args) value {
		d := &dict{}
		if from, ok := a.or(0, "", nil).(*dict); ok {
			m.payItems(2 * len(from.keys))
			for i, k := range from.keys {
				d.set(k, from.vals[i])
			}
		}
		for _, k := range sortedNames(a.named) {
			d.set(own(k), a.named[k])
		}
		return d
	}),
	"range":        global("range", rangeOf),
	"strftime_now": global("strftime_now", strftimeNow),
}

func global(name string, call func(*machine, args) value) *function {
	return &function{name: name, call: call}
}

// rangeOf is range(stop) or range(start, stop, step).
func rangeOf(m *machine, a args) value {
	var n [3]int64
	n[2] = 1
	if len(a.pos) == 0 || len(a.pos) > 3 {
		fail("range takes one to three numbers")
	}
	for i, v := range a.pos {
		x, ok := whole(v)
		if !ok || x > 1<<40 || x < -1<<40 {
			fail("range takes whole numbers of moderate size")
		}
		n[i] = x
	}
	if len(a.pos) == 1 {
		n[0], n[1] = 0, n[0]
	}
	if n[2] == 0 {
		fail("range has a step of 0")
	}
	count := max(0, (n[1]-n[0]+n[2]-sign64(n[2]))/n[2])
	if count > m.steps {
		fail(messageTooMuch)
	}
	m.payItems(int(count))
	out := &list{items: make([]value, count)}
	for i := range out.items {
		out.items[i] = n[0] + int64(i)*n[2]
	}
	return out
}

func sign64(n int64) int64 {
	if n < 0 {
		return -1
	}
	return 1
}

// strftimeNow formats the input's time by Python's conversions.
func strftimeNow(m *machine, a args) value {
	if m.now.IsZero() {
		fail("the template asks for the date, and none is given")
	}
	given := textArg(a, 0, "format")
	format := given.s
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		bare := format[i] == '-' && i+1 < len(format)
		if bare {
			i++
		}
		s := timePart(m.now, format[i])
		if bare {
			s = strings.TrimLeft(s[:len(s)-1], "0") + s[len(s)-1:]
		}
		b.WriteString(s)
	}
	m.pay(b.Len())
	return given.like(b.String())
}

var timeLayouts = map[byte]string{'d': "02", 'm': "01", 'Y': "2006", 'y': "06", 'B': "January", 'b': "Jan", 'H': "15", 'I': "03",
	'M': "04", 'S': "05", 'A': "Monday", 'a': "Mon", 'p': "PM", 'F': "2006-01-02", 'T': "15:04:05", 'Z': "MST", 'z': "-0700"}

func timePart(t time.Time, c byte) string {
	if layout, ok := timeLayouts[c]; ok {
		return t.Format(layout)
	}
	switch c {
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay())
	case '%':
		return "%"
	}
	fail("the date format %%%c is not built in", c)
	return ""
}

// mayStore refuses what the transformers library refuses to keep in a namespace.
func mayStore(name string) {
	if strings.HasPrefix(name, "_") {
		fail("a namespace cannot hold %q", name)
	}
}
