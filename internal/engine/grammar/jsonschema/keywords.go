package jsonschema

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"macaron/internal/errs"
)

// notes are the keywords that say nothing about which documents are valid, or are read
// where they are referred to.
var notes = []string{"title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly",
	"contentEncoding", "contentMediaType", "contentSchema", "$defs", "definitions", "$anchor", "minContains", "maxContains"}

// refused are the keywords of the standard that are not supported.
var refused = []string{"if", "then", "else", "not", "contains", "dependentSchemas", "dependentRequired", "dependencies", "unevaluatedProperties",
	"unevaluatedItems", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary", "additionalItems", "nullable"}

// drafts are the values of $schema that are read; all as draft 2020-12, which means the
// same for the keywords that are supported, siblings of $ref in draft 7 excepted.
var drafts = []string{"https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema", "http://json-schema.org/draft-07/schema"}

func unsupported(v *value, format string, args ...any) error {
	return errs.New(errs.Unsupported, fmt.Sprintf("schema %s: %s", at(v.path), fmt.Sprintf(format, args...)), "leave it out, or say the same with other keywords").In(at(v.path))
}

func invalid(v *value, format string, args ...any) error {
	return errs.Newf(errs.InvalidRequest, "schema %s: %s", at(v.path), fmt.Sprintf(format, args...)).In(at(v.path))
}

// simple handles the keywords that constrain a shape by themselves.
var simple = map[string]func(c *compiler, s *shape, v *value) error{
	"type":             func(c *compiler, s *shape, v *value) error { return s.setType(v) },
	"enum":             func(c *compiler, s *shape, v *value) error { return s.setEnum(v, v.items, v.kind == isArray) },
	"const":            func(c *compiler, s *shape, v *value) error { return s.setEnum(v, []*value{v}, true) },
	"minimum":          func(c *compiler, s *shape, v *value) error { return s.setBound(v, &s.min, 1, false) },
	"exclusiveMinimum": func(c *compiler, s *shape, v *value) error { return s.setBound(v, &s.min, 1, true) },
	"maximum":          func(c *compiler, s *shape, v *value) error { return s.setBound(v, &s.max, -1, false) },
	"exclusiveMaximum": func(c *compiler, s *shape, v *value) error { return s.setBound(v, &s.max, -1, true) },
	"multipleOf":       func(c *compiler, s *shape, v *value) error { return s.setMultiple(v) },
	"minLength":        func(c *compiler, s *shape, v *value) error { return atLeast(v, &s.minLength) },
	"maxLength":        func(c *compiler, s *shape, v *value) error { return atMost(v, &s.maxLength) },
	"minItems":         func(c *compiler, s *shape, v *value) error { return atLeast(v, &s.minItems) },
	"maxItems":         func(c *compiler, s *shape, v *value) error { return atMost(v, &s.maxItems) },
	"minProperties":    func(c *compiler, s *shape, v *value) error { return atLeast(v, &s.minProperties) },
	"maxProperties":    func(c *compiler, s *shape, v *value) error { return atMost(v, &s.maxProperties) },
	"pattern":          func(c *compiler, s *shape, v *value) error { return s.addPattern(c, v) },
	"format":           func(c *compiler, s *shape, v *value) error { return s.addFormat(c, v) },
	"required":         func(c *compiler, s *shape, v *value) error { return s.setRequired(v) },
	"uniqueItems": func(c *compiler, s *shape, v *value) error {
		if v.kind == isBool && !v.bool {
			return nil
		}
		return unsupported(v, "uniqueItems is not supported")
	},
}

// structural are the keywords that shape.add and expand read elsewhere.
var structural = []string{"properties", "patternProperties", "additionalProperties", "propertyNames", "items", "prefixItems", "allOf", "anyOf", "oneOf", "$ref"}

// checkName refuses a keyword that is not read.
func (c *compiler) checkName(m member, schema *value) error {
	v := m.value
	switch {
	case simple[m.name] != nil || slices.Contains(structural, m.name) || slices.Contains(notes, m.name) || strings.HasPrefix(m.name, "x-"):
		return nil
	case slices.Contains(refused, m.name):
		return unsupported(v, "%s is not supported", m.name)
	case m.name == "$schema":
		if v.kind != isString || !slices.Contains(drafts, strings.TrimSuffix(v.text, "#")) {
			return unsupported(v, "the dialect %q is not read; these are: %s", v.text, strings.Join(drafts, ", "))
		}
		return nil
	case m.name == "$id" && schema.path == "":
		return nil
	case m.name == "$id":
		return unsupported(v, "a $id within the schema is not supported")
	}
	return unsupported(v, "the keyword %q is not known; names that begin with x- are left to you", m.name)
}

var kinds = map[string]kind{"null": isNull, "boolean": isBool, "integer": isInteger, "number": isNumber, "string": isString, "array": isArray, "object": isObject}

func (s *shape) setType(v *value) error {
	names := []*value{v}
	if v.kind == isArray {
		names = v.items
	}
	var sum kind
	for _, n := range names {
		k, ok := kinds[n.text]
		if n.kind != isString || !ok {
			return invalid(v, "a type is one of null, boolean, integer, number, string, array, object")
		}
		sum |= k
	}
	s.kinds &= sum
	return nil
}

// setEnum keeps the values that are listed and were not excluded before.
func (s *shape) setEnum(v *value, values []*value, ok bool) error {
	if !ok {
		return invalid(v, "enum is a list")
	}
	if !s.listed {
		s.listed, s.values = true, values
		return nil
	}
	s.values = slices.DeleteFunc(slices.Clone(s.values), func(a *value) bool {
		return !slices.ContainsFunc(values, func(b *value) bool { return equal(a, b) })
	})
	return nil
}

// bound is an end of a range of numbers.
type bound struct {
	at   *big.Rat // nil: none
	open bool     // the bound itself is outside
}

// setBound makes a bound tighter; sign 1 is a minimum, -1 a maximum.
func (s *shape) setBound(v *value, b *bound, sign int, open bool) error {
	if v.kind&isNumber == 0 {
		return invalid(v, "a bound is a number")
	}
	r, err := v.rat()
	if err != nil {
		return err
	}
	if b.at == nil || r.Cmp(b.at) == sign || r.Cmp(b.at) == 0 && open {
		*b = bound{r, open}
	}
	return nil
}

func (s *shape) setMultiple(v *value) error {
	if v.kind&isNumber == 0 {
		return invalid(v, "multipleOf is a number")
	}
	r, err := v.rat()
	if err != nil {
		return err
	}
	if r.Sign() <= 0 {
		return invalid(v, "multipleOf is above 0")
	}
	s.multiples = append(slices.Clip(s.multiples), r)
	return nil
}

// count reads a number of things.
func count(v *value) (int, error) {
	r := new(big.Rat)
	if v.kind == isInteger {
		r, _ = v.rat()
	}
	if v.kind != isInteger || r.Sign() < 0 {
		return 0, invalid(v, "this is a whole number from 0 on")
	}
	if !r.Num().IsInt64() || r.Num().Int64() > 1<<30 {
		return 1 << 30, nil
	}
	return strconv.Atoi(r.Num().String())
}

func atLeast(v *value, to *int) error {
	n, err := count(v)
	*to = max(*to, n)
	return err
}

// atMost lowers a bound, -1 is none yet.
func atMost(v *value, to *int) error {
	n, err := count(v)
	if *to < 0 || n < *to {
		*to = n
	}
	return err
}

func (s *shape) setRequired(v *value) error {
	if v.kind != isArray {
		return invalid(v, "required is a list of names")
	}
	s.required = slices.Clip(s.required)
	for _, n := range v.items {
		if n.kind != isString {
			return invalid(n, "a name is a string")
		}
		s.required = append(s.required, n.text)
	}
	return nil
}
