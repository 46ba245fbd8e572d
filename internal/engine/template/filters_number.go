package template

import (
	"math"
	"strconv"
	"strings"
)

func sumFilter(m *machine, v value, a args) value {
	by := m.keyed(a, 0)
	total := a.or(1, "start", int64(0))
	for _, item := range m.items(v) {
		m.spend(1)
		x, okX := number(total)
		y, okY := number(by(item))
		if !okX || !okY {
			fail("sum takes numbers only")
		}
		total = arithmetic("+", x, y)
	}
	return total
}

// extreme is min (-1) or max (1).
func extreme(sign int) filter {
	return func(m *machine, v value, a args) value {
		items := m.items(v)
		if len(items) == 0 {
			return undefined{"the extreme of nothing"}
		}
		by := m.keyed(a, 1)
		best := items[0]
		for _, item := range items[1:] {
			if m.compare(by(item), by(best))*sign > 0 {
				best = item
			}
		}
		return best
	}
}

func absFilter(m *machine, v value, _ args) value {
	n, ok := number(v)
	if !ok {
		fail("abs takes a number, not a %s", kindOf(v))
	}
	if n.whole {
		if n.i < 0 {
			return m.sign("-", n.i)
		}
		return n.i
	}
	return math.Abs(n.f)
}

func intFilter(_ *machine, v value, a args) value {
	if n, ok := number(v); ok {
		if n.whole {
			return n.i
		}
		if math.Abs(n.f) < 1<<63 {
			return int64(n.f)
		}
	}
	if t, ok := v.(text); ok {
		s := strings.TrimSpace(t.s)
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
		if f, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(f) < 1<<63 {
			return int64(f)
		}
	}
	return a.or(0, "default", int64(0))
}

func floatFilter(_ *machine, v value, a args) value {
	if n, ok := number(v); ok {
		return n.float()
	}
	if t, ok := v.(text); ok {
		if f, err := strconv.ParseFloat(strings.TrimSpace(t.s), 64); err == nil {
			return f
		}
	}
	return a.or(0, "default", 0.0)
}

func roundFilter(_ *machine, v value, a args) value {
	n, ok := number(v)
	digits, okD := number(a.or(0, "precision", int64(0)))
	if !ok || !okD || !digits.whole || digits.i < -300 || digits.i > 300 {
		fail("round takes a number and a small precision")
	}
	how, _ := a.or(1, "method", own("common")).(text)
	scale := math.Pow(10, float64(digits.i))
	switch f := n.float() * scale; how.s {
	case "ceil":
		return math.Ceil(f) / scale
	case "floor":
		return math.Floor(f) / scale
	default:
		return math.RoundToEven(f) / scale
	}
}
