package jsonschema

import (
	"fmt"
	"strings"

	"macaron/internal/engine/grammar/rtn"
)

// shape writes the values of a shape.
func (c *compiler) shape(s *shape, from, to rtn.Node) error {
	if s.listed {
		return c.listed(s, from, to)
	}
	if s.kinds&isNull != 0 {
		c.w.b.Text(from, "null", to)
	}
	if s.kinds&isBool != 0 {
		c.w.b.Text(from, "true", to)
		c.w.b.Text(from, "false", to)
	}
	for _, part := range []struct {
		k     kind
		write func(*shape, rtn.Node, rtn.Node) error
	}{{isNumber, c.numbers}, {isString, c.strings}, {isArray, c.arrays}, {isObject, c.objects}} {
		if s.kinds&part.k != 0 {
			if err := part.write(s, from, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// listed writes those of the listed values that keep to the rest of the shape.
func (c *compiler) listed(s *shape, from, to rtn.Node) error {
	for _, v := range s.values {
		ok, err := c.has(s, v)
		if err != nil {
			return err
		}
		if ok {
			c.w.b.Eps(c.literal(v, from), to)
		}
	}
	return nil
}

// literal writes one value.
func (c *compiler) literal(v *value, from rtn.Node) rtn.Node {
	switch v.kind {
	case isArray:
		return c.items(from, "[", "]", len(v.items), func(i int, from rtn.Node) rtn.Node { return c.literal(v.items[i], from) })
	case isObject:
		return c.items(from, "{", "}", len(v.members), func(i int, from rtn.Node) rtn.Node {
			return c.literal(v.members[i].value, c.w.colon(c.w.text(from, Quote(v.members[i].name))))
		})
	}
	return c.w.text(from, canonical(v))
}

// items writes a list of known length.
func (c *compiler) items(from rtn.Node, open, shut string, n int, one func(i int, from rtn.Node) rtn.Node) rtn.Node {
	at := c.w.space(c.w.text(from, open))
	for i := range n {
		if i > 0 {
			at = c.w.space(c.w.text(at, ","))
		}
		at = one(i, at)
	}
	if n > 0 {
		at = c.w.space(at)
	}
	return c.w.text(at, shut)
}

// canonical is the text of a value that is neither array nor object: a whole number
// without point and exponent, a string with the escapes that JSON demands.
func canonical(v *value) string {
	switch v.kind {
	case isNull:
		return "null"
	case isBool:
		if v.bool {
			return "true"
		}
		return "false"
	case isString:
		return Quote(v.text)
	case isInteger:
		r, _ := v.rat()
		return r.Num().String()
	}
	return v.text
}

// Quote is a JSON string with no more escapes than needed.
func Quote(s string) string {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		if e, ok := short[r]; ok {
			out.WriteString(e)
		} else if r < 0x20 {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}
