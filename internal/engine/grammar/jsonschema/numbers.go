package jsonschema

import (
	"fmt"
	"math/big"
	"strings"

	"macaron/internal/engine/grammar/auto"
	"macaron/internal/engine/grammar/rtn"
)

// numbers writes the numbers of a shape. Within bounds and of multiples they are written
// without exponent.
func (c *compiler) numbers(s *shape, from, to rtn.Node) error {
	whole := s.kinds&isFraction == 0
	if s.min.at == nil && s.max.at == nil && len(s.multiples) == 0 {
		r := c.w.number()
		if whole {
			r = c.w.integer()
		}
		c.w.b.Call(from, r, to)
		return nil
	}
	d, err := c.numeric(s, whole)
	if err != nil {
		return err
	}
	c.w.b.Call(from, c.w.once(fmt.Sprintf("number %v %v %v %v", whole, s.min, s.max, s.multiples), func(from, to rtn.Node) { c.w.raw.DFA(from, d, to) }), to)
	return nil
}

// numeric is the language of the numbers of a shape.
func (c *compiler) numeric(s *shape, whole bool) (*auto.DFA, error) {
	d, err := auto.Compile(form(whole), c.budget)
	if err != nil {
		return nil, err
	}
	parts := []auto.Expr{}
	if s.min.at != nil {
		parts = append(parts, above(s.min))
	}
	if s.max.at != nil {
		parts = append(parts, below(s.max))
	}
	for _, e := range parts {
		one, err := auto.Compile(e, c.budget)
		if err != nil {
			return nil, err
		}
		if d, err = auto.And(d, one, c.budget); err != nil {
			return nil, err
		}
	}
	for _, m := range s.multiples {
		one, err := c.multiple(m)
		if err != nil {
			return nil, err
		}
		if d, err = auto.And(d, one, c.budget); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func form(whole bool) auto.Expr {
	if whole {
		return auto.Cat(sign, wholeForm)
	}
	return auto.Cat(sign, wholeForm, fraction)
}

// above is the numbers from a bound on. A negative number is above b if its magnitude
// is below -b.
func above(b bound) auto.Expr {
	minus := auto.Text("-")
	if b.at.Sign() > 0 {
		return atLeastMagnitude(b)
	}
	negative := auto.Cat(minus, atMostMagnitude(bound{new(big.Rat).Neg(b.at), b.open}))
	if b.at.Sign() == 0 && b.open {
		return atLeastMagnitude(b)
	}
	return auto.Alt(negative, auto.Cat(some, fraction))
}

// below is the numbers up to a bound.
func below(b bound) auto.Expr {
	minus := auto.Text("-")
	if b.at.Sign() < 0 || b.at.Sign() == 0 && b.open {
		return auto.Cat(minus, atLeastMagnitude(bound{new(big.Rat).Neg(b.at), b.open}))
	}
	return auto.Alt(auto.Cat(minus, some, fraction), atMostMagnitude(b))
}

// decimal splits a number of at least 0 into its digits before and behind the point.
// JSON numbers are finite decimals, so it is exact.
func decimal(r *big.Rat) (whole, part string) {
	n := 0
	for d := new(big.Rat).Set(r); !d.IsInt(); n++ {
		d.Mul(d, big.NewRat(10, 1))
	}
	whole, part, _ = strings.Cut(r.FloatString(n), ".")
	return whole, part
}

func digit(lo, hi byte) auto.Expr {
	if lo > hi {
		return auto.Alt()
	}
	return auto.One(auto.Between(rune(lo), rune(hi)))
}

var anyDigits = auto.Star(digit('0', '9'))

// atLeastMagnitude is the decimals without sign from b on.
func atLeastMagnitude(b bound) auto.Expr {
	whole, part := decimal(b.at)
	alts := []auto.Expr{auto.Cat(moreThan(whole), fraction)}
	// the same whole part: the first digit that differs is larger
	for i := range len(part) {
		alts = append(alts, auto.Cat(auto.Text(whole+"."+part[:i]), digit(part[i]+1, '9'), anyDigits))
	}
	switch {
	case b.open:
		alts = append(alts, auto.Cat(auto.Text(whole+"."+part), positive()))
	case part == "":
		alts = append(alts, auto.Cat(auto.Text(whole), fraction))
	default:
		alts = append(alts, auto.Cat(auto.Text(whole+"."+part), anyDigits))
	}
	return auto.Alt(alts...)
}

// positive is digits that are not all 0.
func positive() auto.Expr { return auto.Cat(anyDigits, digit('1', '9'), anyDigits) }

// atMostMagnitude is the decimals without sign up to b.
func atMostMagnitude(b bound) auto.Expr {
	whole, part := decimal(b.at)
	alts := []auto.Expr{auto.Cat(lessThan(whole), fraction)}
	for i := range len(part) {
		alts = append(alts, auto.Cat(auto.Text(whole+"."+part[:i]), digit('0', part[i]-1), anyDigits))
		if i > 0 {
			alts = append(alts, auto.Text(whole+"."+part[:i]))
		}
	}
	if part != "" {
		alts = append(alts, auto.Text(whole))
	}
	zeros := auto.Star(auto.Text("0"))
	switch {
	case b.open:
	case part == "":
		alts = append(alts, auto.Text(whole), auto.Cat(auto.Text(whole+".0"), zeros))
	default:
		alts = append(alts, auto.Cat(auto.Text(whole+"."+part), zeros))
	}
	return auto.Alt(alts...)
}

// moreThan is the whole numbers above one, without leading zeros.
func moreThan(n string) auto.Expr {
	alts := []auto.Expr{auto.Cat(digit('1', '9'), auto.Repeat(digit('0', '9'), len(n), -1))}
	for i := range len(n) {
		alts = append(alts, auto.Cat(auto.Text(n[:i]), digit(n[i]+1, '9'), auto.Repeat(digit('0', '9'), len(n)-i-1, len(n)-i-1)))
	}
	return auto.Alt(alts...)
}

// lessThan is the whole numbers below one. With fewer digits, or the first one that
// differs is smaller.
func lessThan(n string) auto.Expr {
	alts := []auto.Expr{}
	if len(n) > 1 {
		alts = append(alts, auto.Text("0"), auto.Cat(digit('1', '9'), auto.Repeat(digit('0', '9'), 0, len(n)-2)))
	}
	for i := range len(n) {
		lowest := byte('0')
		if i == 0 && len(n) > 1 {
			lowest = '1'
		}
		alts = append(alts, auto.Cat(auto.Text(n[:i]), digit(lowest, n[i]-1), auto.Repeat(digit('0', '9'), len(n)-i-1, len(n)-i-1)))
	}
	return auto.Alt(alts...)
}
