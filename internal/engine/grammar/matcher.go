package grammar

import (
	"fmt"
	"slices"

	"macaron/internal/errs"
)

// Matcher follows one answer through a grammar. It is not safe for concurrent use;
// matchers of one grammar are, side by side.
type Matcher struct {
	g         *Grammar
	items     []item
	accepting bool // the text so far is in the language
	ended     bool // an end token was taken
}

// Start begins an answer.
func (g *Grammar) Start() *Matcher {
	n := g.p.Start
	m := &Matcher{g: g, accepting: g.p.Accept[n]}
	if !g.p.Tail[n] {
		m.items = []item{{n, bottom}}
	}
	return m
}

// Clone is a matcher at the same place that goes its own way.
func (m *Matcher) Clone() *Matcher {
	c := *m
	c.items = slices.Clone(m.items)
	return &c
}

// Accepting tells whether the text so far is in the language, so that it may end here.
func (m *Matcher) Accepting() bool { return m.accepting && !m.ended }

// Done tells whether nothing but an end token can follow, or one was taken.
func (m *Matcher) Done() bool { return m.ended || len(m.items) == 0 }

// Mask sets the bits of the tokens that may come next and clears the others. dst has
// Vocab.Words words. No bit is set behind an end token, or where the vocabulary lacks
// what the grammar demands. A grammar that is too ambiguous is TooLarge.
func (m *Matcher) Mask(dst []uint64) error {
	clear(dst)
	if m.ended {
		return nil
	}
	m.g.mu.Lock()
	defer m.g.mu.Unlock()
	if m.accepting {
		for _, id := range m.g.v.end {
			set(dst, id)
		}
	}
	return m.g.mask(dst, slices.Clone(m.items))
}

// Accept takes a token. A token that the mask forbids is InvalidRequest and changes
// nothing.
func (m *Matcher) Accept(id int32) error {
	if err := m.g.v.checkID(id); err != nil {
		return err
	}
	if slices.Contains(m.g.v.end, id) {
		if !m.Accepting() {
			return forbidden(id)
		}
		m.ended, m.items = true, nil
		return nil
	}
	name := m.g.v.name(id)
	if len(name) == 0 || m.ended {
		return forbidden(id)
	}
	return m.take(name, id)
}

func forbidden(id int32) error {
	return errs.New(errs.InvalidRequest, fmt.Sprintf("token %d is not allowed by the constraint here", id), "take one of the mask")
}

// take follows the bytes of a token.
func (m *Matcher) take(name []byte, id int32) error {
	m.g.mu.Lock()
	defer m.g.mu.Unlock()
	s := m.g.real
	items, accepting := m.items, m.accepting
	s.full = false
	for _, b := range name {
		var next []item
		next, accepting = s.step(items, b)
		if items = slices.Clone(s.settle(next)); len(items) == 0 && !accepting {
			return forbidden(id)
		}
	}
	if s.full {
		return tooAmbiguous()
	}
	m.items, m.accepting = items, accepting
	return nil
}

// AcceptBytes takes text that need not end at the end of a token.
func (m *Matcher) AcceptBytes(text []byte) error {
	if m.ended {
		return forbidden(-1)
	}
	return m.take(text, -1)
}
