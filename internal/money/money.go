// Package money counts US dollars in whole nano-dollars, so that sums are exact: prices of
// tokens, what model calls cost, and what may be spent.
package money

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// USD is an amount in units of 10^-9 US dollars. As text it is a decimal number of dollars.
type USD int64

// places are the decimals of a dollar that are counted.
const places = 9

// Most is the largest amount that is read: a billion dollars.
const Most USD = 1e18

// Parse reads a decimal number of dollars from 0 to Most, such as 2.5 or 1.8e-05. A number
// with more decimals than are counted is refused, not rounded.
func Parse(s string) (USD, error) {
	wrong := fmt.Errorf("it must be a decimal number of US dollars from 0 to 1000000000, with at most %d decimals", places)
	mantissa, exponent, scaled := strings.Cut(strings.ToLower(s), "e")
	shift := places
	if scaled {
		n, err := strconv.Atoi(exponent)
		if err != nil || n < -40 || n > 40 {
			return 0, wrong
		}
		shift += n
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if len(digits) == 0 || len(digits) > 40 || strings.Trim(digits, "0123456789") != "" {
		return 0, wrong
	}
	shift -= len(fraction)
	for ; shift < 0; shift++ {
		last := len(digits) - 1
		if last < 0 {
			break // 0.000 has fewer digits than decimals are taken away
		}
		if digits[last] != '0' {
			return 0, wrong
		}
		digits = digits[:last]
	}
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(digits+strings.Repeat("0", max(shift, 0)), 10, 64)
	if err != nil || n > int64(Most) {
		return 0, wrong
	}
	return USD(n), nil
}

// Of is the amount next to a number of dollars, at least 0 and at most Most.
func Of(dollars float64) USD {
	return USD(math.Round(min(max(dollars*1e9, 0), float64(Most))))
}

// Dollars is the amount as a float, for those who count in such.
func (u USD) Dollars() float64 { return float64(u) / 1e9 }

// String is the amount in dollars, without a sign of the currency: 2.5, 0.000018.
func (u USD) String() string {
	sign, n := "", uint64(u)
	if u < 0 {
		sign, n = "-", -n
	}
	s := fmt.Sprintf("%s%d.%09d", sign, n/1e9, n%1e9)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// MarshalText implements encoding.TextMarshaler.
func (u USD) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (u *USD) UnmarshalText(b []byte) (err error) {
	*u, err = Parse(string(b))
	return err
}

// MarshalJSON writes a number.
func (u USD) MarshalJSON() ([]byte, error) { return u.MarshalText() }

// UnmarshalJSON reads a number.
func (u *USD) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	return u.UnmarshalText(b)
}
