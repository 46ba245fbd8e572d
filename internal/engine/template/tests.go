package template

import "strings"

// test is v is name(args).
type test func(m *machine, v value, a args) value

func plain(f func(v value) bool) test {
	return func(_ *machine, v value, _ args) value { return f(v) }
}

// comparing is a test with the meaning of an operator.
func comparing(op string) test {
	return func(m *machine, v value, a args) value {
		other, ok := a.get(0, "")
		if !ok {
			fail("a test that compares needs a value")
		}
		return m.holds(op, v, other)
	}
}

func is[T value](v value) bool {
	_, ok := v.(T)
	return ok
}

func whole(v value) (int64, bool) {
	n, ok := number(v)
	return n.i, ok && n.whole
}

var tests = map[string]test{
	"defined":   plain(func(v value) bool { return !is[undefined](v) }),
	"undefined": plain(is[undefined]),
	"none":      plain(func(v value) bool { return v == nil }),
	"boolean":   plain(is[bool]),
	"true":      plain(func(v value) bool { return v == true }),
	"false":     plain(func(v value) bool { return v == false }),
	"string":    plain(is[text]),
	"integer":   plain(is[int64]),
	"float":     plain(is[float64]),
	"number":    plain(func(v value) bool { _, ok := number(v); return ok }),
	"mapping":   plain(is[*dict]),
	"sequence":  plain(func(v value) bool { return is[*list](v) || is[text](v) || is[*dict](v) || is[undefined](v) }),
	"iterable":  plain(func(v value) bool { return is[*list](v) || is[text](v) || is[*dict](v) || is[undefined](v) }),
	"callable":  plain(is[*function]),
	"odd":       plain(func(v value) bool { n, ok := whole(v); return ok && n%2 != 0 }),
	"even":      plain(func(v value) bool { n, ok := whole(v); return ok && n%2 == 0 }),
	"lower": plain(func(v value) bool {
		t, ok := v.(text)
		return ok && t.s == strings.ToLower(t.s) && t.s != strings.ToUpper(t.s)
	}),
	"upper": plain(func(v value) bool {
		t, ok := v.(text)
		return ok && t.s == strings.ToUpper(t.s) && t.s != strings.ToLower(t.s)
	}),
	"eq": comparing("=="), "equalto": comparing("=="), "sameas": comparing("=="), "ne": comparing("!="),
	"lt": comparing("<"), "lessthan": comparing("<"), "le": comparing("<="),
	"gt": comparing(">"), "greaterthan": comparing(">"), "ge": comparing(">="),
	"in": comparing("in"),
	"divisibleby": func(_ *machine, v value, a args) value {
		n, ok := whole(v)
		d, okD := whole(a.or(0, "num", nil))
		if !ok || !okD || d == 0 {
			fail("divisibleby takes whole numbers")
		}
		return n%d == 0
	},
}
