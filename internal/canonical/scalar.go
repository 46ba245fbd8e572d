package canonical

import (
	"math"
	"strconv"
	"strings"

	"macaron/internal/errs"
)

// appendString writes s quoted. Only the quote, the backslash and control
// characters below U+0020 are escaped.
func appendString(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		if j := strings.IndexByte("\b\f\n\r\t\"\\", c); j >= 0 {
			out = append(out, '\\', `bfnrt"\`[j])
		} else if c < 0x20 {
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			out = append(out, c)
		}
	}
	return append(out, '"')
}

// limit is where integers stop being written in full, as in ECMAScript.
const limit = 1e21

// appendNumber writes a JSON number literal in its shortest form: integers below
// 1e21 in full, everything else as the shortest digits that read back as the same
// 64-bit float, laid out as ECMAScript does.
func appendNumber(out []byte, literal string) ([]byte, error) {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, invalid("a number is out of range: "+errs.Clip(literal), nil)
	}
	if !strings.ContainsAny(literal, ".eE") && math.Abs(f) < limit {
		if literal == "-0" {
			literal = "0"
		}
		return append(out, literal...), nil // exact, also beyond 2^53
	}
	return appendFloat(out, f), nil
}

func appendFloat(out []byte, f float64) []byte {
	if f == 0 {
		return append(out, '0')
	}
	if a := math.Abs(f); a >= 1e-6 && a < limit {
		return strconv.AppendFloat(out, f, 'f', -1, 64)
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	sign, digits := exponent[:1], strings.TrimLeft(exponent[1:], "0")
	return append(out, mantissa+"e"+sign+digits...)
}
