package jsonschema

import (
	"slices"
	"unicode/utf8"
)

// has tells whether a value has a shape, lists of values excepted.
func (c *compiler) has(s *shape, v *value) (bool, error) {
	if s.kinds&v.kind == 0 {
		return false, nil
	}
	switch v.kind {
	case isInteger, isFraction:
		return s.hasNumber(v)
	case isString:
		return c.hasString(s, v.text)
	case isArray:
		return c.hasItems(s, v)
	case isObject:
		return c.hasMembers(s, v)
	}
	return true, nil
}

// satisfies tells whether a value satisfies all of a set of schemas.
func (c *compiler) satisfies(set []*value, v *value) (bool, error) {
	shapes, err := c.expand(set)
	if err != nil {
		return false, err
	}
	for i := range shapes {
		s := &shapes[i]
		if s.listed && !slices.ContainsFunc(s.values, func(o *value) bool { return equal(o, v) }) {
			continue
		}
		if ok, err := c.has(s, v); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

func (s *shape) hasNumber(v *value) (bool, error) {
	r, err := v.rat()
	if err != nil {
		return false, err
	}
	if b := s.min; b.at != nil && (r.Cmp(b.at) < 0 || b.open && r.Cmp(b.at) == 0) {
		return false, nil
	}
	if b := s.max; b.at != nil && (r.Cmp(b.at) > 0 || b.open && r.Cmp(b.at) == 0) {
		return false, nil
	}
	for _, m := range s.multiples {
		if q := r.Quo(r, m); !q.IsInt() {
			return false, nil
		}
		r, _ = v.rat() // read again: Quo wrote over it
	}
	return true, nil
}

func (c *compiler) hasString(s *shape, text string) (bool, error) {
	if n := utf8.RuneCountInString(text); n < s.minLength || s.maxLength >= 0 && n > s.maxLength {
		return false, nil
	}
	if len(s.patterns) == 0 {
		return true, nil
	}
	d, err := c.language(s)
	return err == nil && d.Accepts(text), err
}

func (c *compiler) hasItems(s *shape, v *value) (bool, error) {
	if len(v.items) < s.minItems || s.maxItems >= 0 && len(v.items) > s.maxItems {
		return false, nil
	}
	for i, e := range v.items {
		if ok, err := c.satisfies(s.elementSet(i), e); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (c *compiler) hasMembers(s *shape, v *value) (bool, error) {
	if len(v.members) < s.minProperties || s.maxProperties >= 0 && len(v.members) > s.maxProperties {
		return false, nil
	}
	for _, name := range s.required {
		if v.get(name) == nil {
			return false, nil
		}
	}
	patterns, err := c.patternsOf(s)
	if err != nil {
		return false, err
	}
	allowed, err := c.allowedNames(s)
	if err != nil {
		return false, err
	}
	for _, m := range v.members {
		if allowed != nil && !allowed.Accepts(m.name) {
			return false, nil
		}
		if ok, err := c.satisfies(c.applicable(s, m.name, patterns), m.value); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}
