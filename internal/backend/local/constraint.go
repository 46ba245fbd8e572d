package local

import (
	"container/list"
	"sync"

	"macaron/internal/backend"
	"macaron/internal/engine/grammar"
	"macaron/internal/errs"
)

// maxGrammars is how many compiled constraints are kept: what one answer taught a grammar
// helps the next with the same constraint.
const maxGrammars = 32

// grammars keeps compiled constraints, least recently used out first. It is safe for
// concurrent use.
type grammars struct {
	vocab func() (*grammar.Vocab, error)

	mu    sync.Mutex
	made  map[backend.Constraint]*list.Element
	order list.List // *compiled, most recently used first
}

type compiled struct {
	of   backend.Constraint
	once sync.Once
	g    *grammar.Grammar
	err  error
}

// get gives the grammar of a constraint, nil for none. What is wrong with it names the
// request's field.
func (s *grammars) get(c backend.Constraint) (*grammar.Grammar, error) {
	if c.Kind == backend.AnyText {
		return nil, nil
	}
	field := c.Field
	c.Field, c.Whole = "", false
	e := s.entry(c)
	e.once.Do(func() { e.g, e.err = s.compile(c) })
	if e.err != nil && field != "" {
		told := *errs.As(e.err)
		return nil, told.In(field)
	}
	return e.g, e.err
}

func (s *grammars) entry(c backend.Constraint) *compiled {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.made[c]; e != nil {
		s.order.MoveToFront(e)
		return e.Value.(*compiled)
	}
	if s.made == nil {
		s.made = map[backend.Constraint]*list.Element{}
	}
	e := &compiled{of: c}
	s.made[c] = s.order.PushFront(e)
	if s.order.Len() > maxGrammars {
		delete(s.made, s.order.Remove(s.order.Back()).(*compiled).of)
	}
	return e
}

func (s *grammars) compile(c backend.Constraint) (*grammar.Grammar, error) {
	v, err := s.vocab()
	if err != nil {
		return nil, err
	}
	switch c.Kind {
	case backend.JSONObject:
		return v.JSONObject(grammar.SchemaOptions{})
	case backend.JSONSchema:
		return v.JSONSchema([]byte(c.Text), grammar.SchemaOptions{})
	case backend.Regex:
		return v.Regex(c.Text)
	case backend.Grammar:
		return v.EBNF(c.Text)
	case toolCalls:
		return compileCalls(v, c.Text)
	}
	return nil, errs.Newf(errs.Unsupported, "the built-in engine does not constrain answers by %q", c.Kind)
}
