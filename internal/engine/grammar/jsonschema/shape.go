package jsonschema

import (
	"math/big"

	"macaron/internal/engine/grammar/auto"
)

// shape is a conjunction of constraints: a value has the shape if it is of one of the
// kinds and keeps to all that is said about values of its kind.
type shape struct {
	kinds     kind
	listed    bool     // only values are allowed
	values    []*value // of enum and const
	min, max  bound
	multiples []*big.Rat

	minLength, maxLength int // -1: no bound
	patterns             []language

	objects                      []*value // schemas with properties and their like
	required                     []string
	minProperties, maxProperties int

	arrays             []*value // schemas with items and their like
	minItems, maxItems int
}

// language is a set of strings with a name that tells it from others.
type language struct {
	name string
	expr auto.Expr
}

func anything() shape {
	return shape{kinds: isAny, maxLength: -1, maxProperties: -1, maxItems: -1}
}

// add joins the keywords of one schema, other schemas that it names excepted.
func (s *shape) add(c *compiler, v *value) error {
	for _, m := range v.members {
		if err := c.checkName(m, v); err != nil {
			return err
		}
		if f := simple[m.name]; f != nil {
			if err := f(c, s, m.value); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{"properties", "patternProperties", "additionalProperties", "propertyNames"} {
		if v.get(name) != nil {
			s.objects = append(s.objects[:len(s.objects):len(s.objects)], v)
			break
		}
	}
	if v.get("items") != nil || v.get("prefixItems") != nil {
		s.arrays = append(s.arrays[:len(s.arrays):len(s.arrays)], v)
	}
	return checkParts(v)
}

// checkParts refuses structural keywords of a wrong type.
func checkParts(v *value) error {
	for name, want := range map[string]kind{"properties": isObject, "patternProperties": isObject, "prefixItems": isArray, "allOf": isArray, "anyOf": isArray, "oneOf": isArray, "$ref": isString} {
		if p := v.get(name); p != nil && (p.kind != want || want == isArray && len(p.items) == 0) {
			return invalid(p, "%s is of a wrong type, or empty", name)
		}
	}
	return nil
}

// addPattern adds that a regular expression is found somewhere in the string.
func (s *shape) addPattern(c *compiler, v *value) error {
	if v.kind != isString {
		return invalid(v, "a pattern is a string")
	}
	e, err := auto.Parse(v.text)
	if err != nil {
		return inside(v, err)
	}
	s.patterns = append(s.patterns[:len(s.patterns):len(s.patterns)], language{"/" + v.text, auto.Search(e)})
	return nil
}

// addFormat adds that a string is of a format.
func (s *shape) addFormat(c *compiler, v *value) error {
	if v.kind != isString {
		return invalid(v, "a format is a string")
	}
	e, ok := format(v.text)
	if !ok {
		if c.opts.FormatAsNote {
			return nil
		}
		return unsupported(v, "the format %q is not built in; these are: %s", v.text, formatNames())
	}
	s.patterns = append(s.patterns[:len(s.patterns):len(s.patterns)], language{v.text, e})
	return nil
}
