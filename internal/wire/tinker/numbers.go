package tinker

import (
	"fmt"
	"math"
	"strconv"

	"macaron/internal/errs"
	"macaron/internal/jsonscan"
)

// ints reads a list of whole numbers; nil means that it is absent.
func (o *object) ints(name string) []int64 {
	return numbers(o, name, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
}

// floats reads a list of numbers, each rounded once to float64 and once to float32, as NumPy
// does with a list.
func (o *object) floats(name string) []float32 {
	return numbers(o, name, func(s string) (float32, error) {
		x, err := strconv.ParseFloat(s, 64)
		return float32(x), err
	})
}

// tokens reads a list of token ids.
func (o *object) tokens(name string) []int32 {
	return numbers(o, name, func(s string) (int32, error) {
		n, err := strconv.ParseInt(s, 10, 32)
		if n < 0 || n > math.MaxInt32 {
			err = strconv.ErrRange
		}
		return int32(n), err
	})
}

// numbers reads a list without keeping its items apart, since lists are long.
func numbers[T any](o *object, name string, parse func(string) (T, error)) []T {
	text, there := o.of(name)
	if !there {
		return nil
	}
	if len(text) == 0 || text[0] != '[' {
		o.fail(wrongNumbers(o.path(name), 0, text))
		return nil
	}
	out := []T{}
	w := jsonscan.Walk{Text: text}
	for w.Next() {
		x, err := parse(string(w.Value))
		if err != nil || w.Value[0] == '+' {
			o.fail(wrongNumbers(o.path(name), len(out), w.Value))
			return nil
		}
		out = append(out, x)
	}
	if !w.Whole {
		o.fail(wrongNumbers(o.path(name), len(out), nil))
		return nil
	}
	return out
}

func wrongNumbers(field string, at int, value []byte) error {
	return errs.New(errs.InvalidRequest, fmt.Sprintf("%s is no list of numbers in range at item %d: %s", field, at, errs.Clip(string(value))), "").In(field)
}
