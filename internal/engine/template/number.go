package template

import (
	"math"
	"strconv"
	"strings"
)

// num is an integer or a float.
type num struct {
	i     int64
	f     float64
	whole bool
}

// number takes a boolean as 0 or 1, like Python.
func number(v value) (num, bool) {
	switch x := v.(type) {
	case bool:
		if x {
			return num{i: 1, whole: true}, true
		}
		return num{whole: true}, true
	case int64:
		return num{i: x, whole: true}, true
	case float64:
		return num{f: x}, true
	}
	return num{}, false
}

func (n num) float() float64 {
	if n.whole {
		return float64(n.i)
	}
	return n.f
}

func (n num) compare(o num) int {
	if n.whole && o.whole {
		switch {
		case n.i < o.i:
			return -1
		case n.i > o.i:
			return 1
		}
		return 0
	}
	a, b := n.float(), o.float()
	switch {
	case a < b:
		return -1
	case a == b:
		return 0
	}
	return 1 // also for NaN, which equals nothing
}

// arithmetic computes a op b for + - * / // % **.
func arithmetic(op string, a, b num) value {
	if a.whole && b.whole && op != "/" && (op != "**" || b.i >= 0) {
		return integers(op, a.i, b.i)
	}
	x, y := a.float(), b.float()
	if y == 0 && (op == "/" || op == "//" || op == "%") {
		fail("a division by zero")
	}
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	case "//":
		return math.Floor(x / y)
	case "%":
		r := math.Mod(x, y)
		if r != 0 && (r < 0) != (y < 0) {
			r += y
		}
		return r
	}
	return math.Pow(x, y)
}

// integers computes in 64 bits and fails where Python would go beyond.
func integers(op string, a, b int64) value {
	r, ok := int64(0), true
	switch op {
	case "+":
		r = a + b
		ok = (r > a) == (b > 0)
	case "-":
		r = a - b
		ok = (r < a) == (b > 0)
	case "*":
		r, ok = times(a, b)
	case "//", "%":
		if b == 0 {
			fail("a division by zero")
		}
		if b == -1 {
			if op == "%" {
				return int64(0)
			}
			r, ok = times(a, -1)
			break
		}
		q, rest := a/b, a%b
		if rest != 0 && (rest < 0) != (b < 0) {
			q, rest = q-1, rest+b
		}
		if r = q; op == "%" {
			r = rest
		}
	case "**":
		r, ok = power(a, b)
	}
	if !ok {
		fail("%d %s %d is beyond 64 bits", a, op, b)
	}
	return r
}

func times(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	r := a * b
	return r, r/b == a && (a != math.MinInt64 || b != -1) && (b != math.MinInt64 || a != -1)
}

func power(a, b int64) (int64, bool) {
	if a == 0 || a == 1 || b == 0 {
		if b == 0 {
			return 1, true
		}
		return a, true
	}
	if a == -1 {
		return 1 - 2*(b&1), true
	}
	r, ok := int64(1), true
	for ; b > 0 && ok; b-- {
		r, ok = times(r, a)
	}
	return r, ok
}

// formatFloat is Python's repr of a float.
func formatFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	exp, err := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	if err != nil || exp < -4 || exp >= 16 {
		return s
	}
	s = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
