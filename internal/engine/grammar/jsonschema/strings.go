package jsonschema

import (
	"fmt"

	"macaron/internal/engine/grammar/auto"
	"macaron/internal/engine/grammar/rtn"
	"macaron/internal/errs"
)

// strings writes the strings of a shape.
func (c *compiler) strings(s *shape, from, to rtn.Node) error {
	switch {
	case s.maxLength >= 0 && s.minLength > s.maxLength:
	case len(s.patterns) > 0:
		d, err := c.language(s)
		if err != nil {
			return err
		}
		c.w.b.Call(from, c.quoted(s.key(), d), to)
	case s.minLength > 0 || s.maxLength >= 0:
		c.w.b.Call(from, c.w.once("length "+s.key(), func(from, to rtn.Node) { c.counted(s, from, to) }), to)
	default:
		c.w.b.Call(from, c.w.str(), to)
	}
	return nil
}

// key names the constraints on strings.
func (s *shape) key() string {
	key := fmt.Sprintf("%d-%d", s.minLength, s.maxLength)
	for _, p := range s.patterns {
		key += "\x00" + p.name
	}
	return key
}

// quoted is the rule of a string of a language.
func (c *compiler) quoted(name string, d *auto.DFA) rtn.Rule {
	return c.w.once("language "+name, func(from, to rtn.Node) {
		end := c.w.b.Node()
		c.w.quoted.DFA(c.w.text(from, `"`), d, end)
		c.w.b.Text(end, `"`, to)
	})
}

// counted takes a string of a number of characters.
func (c *compiler) counted(s *shape, from, to rtn.Node) {
	at := c.w.text(from, `"`)
	for range s.minLength {
		if c.w.b.Full() {
			return
		}
		at = c.w.call(at, c.w.char())
	}
	end := c.w.b.Node()
	c.w.b.Text(end, `"`, to)
	if s.maxLength < 0 {
		c.w.charBetween(at, at)
	}
	for i := s.minLength; i < s.maxLength && !c.w.b.Full(); i++ {
		c.w.b.Eps(at, end)
		at = c.w.call(at, c.w.char())
	}
	c.w.b.Eps(at, end)
}

// language is the strings that keep to patterns, formats and lengths.
func (c *compiler) language(s *shape) (*auto.DFA, error) {
	if d, ok := c.dfas[s.key()]; ok {
		return d, nil
	}
	d := auto.All()
	for i, p := range s.patterns {
		one, err := auto.Compile(p.expr, c.budget)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			d = one
		} else if d, err = auto.And(d, one, c.budget); err != nil {
			return nil, err
		}
	}
	if s.minLength > 0 || s.maxLength >= 0 {
		lengths, err := auto.Length(s.minLength, s.maxLength, c.budget)
		if err != nil {
			return nil, err
		}
		if d, err = auto.And(d, lengths, c.budget); err != nil {
			return nil, err
		}
	}
	c.dfas[s.key()] = d
	return d, nil
}

// names is the language of the strings that satisfy a set of schemas.
func (c *compiler) names(set []*value) (*auto.DFA, error) {
	shapes, err := c.expand(set)
	if err != nil {
		return nil, err
	}
	none, err := auto.Not(auto.All(), c.budget)
	if err != nil {
		return nil, err
	}
	for i := range shapes {
		one, err := c.nameShape(&shapes[i])
		if err != nil {
			return nil, err
		}
		if none, err = auto.Or(none, one, c.budget); err != nil {
			return nil, err
		}
	}
	return none, nil
}

func (c *compiler) nameShape(s *shape) (*auto.DFA, error) {
	if s.kinds&isString == 0 {
		return auto.Not(auto.All(), c.budget)
	}
	d, err := c.language(s)
	if err != nil || !s.listed {
		return d, err
	}
	var texts []auto.Expr
	for _, v := range s.values {
		if v.kind == isString {
			texts = append(texts, auto.Text(v.text))
		}
	}
	listed, err := auto.Compile(auto.Alt(texts...), c.budget)
	if err != nil {
		return nil, err
	}
	return auto.And(d, listed, c.budget)
}

// inside adds a place to an error that has none.
func inside(v *value, err error) error {
	e := *errs.As(err)
	e.Message = "schema " + at(v.path) + ": " + e.Message
	return e.In(at(v.path))
}
