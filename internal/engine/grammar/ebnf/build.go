package ebnf

import (
	"strconv"
	"strings"

	"macaron/internal/engine/grammar/lower"
	"macaron/internal/engine/grammar/rtn"
	"macaron/internal/errs"
)

// Tokens finds the text under which a network asks for a token: by its number, or by
// its spelling if the number is negative.
type Tokens func(id int64, spelling string) (string, bool)

// Build reads a source into a network. It gives the rule of the symbol root.
func Build(b *rtn.Builder, src string, tokens Tokens) (rtn.Rule, error) {
	p, err := parse(src)
	if err != nil {
		return 0, err
	}
	w := &writer{b: b, p: p, text: lower.Text(b), tokens: tokens, rules: map[string]rtn.Rule{}}
	for _, name := range p.order {
		w.rules[name] = b.Rule()
	}
	for _, name := range p.order {
		r := w.rules[name]
		if err := w.expr(b.Start(r), p.rules[name], b.End(r)); err != nil {
			return 0, err
		}
	}
	return w.rules["root"], b.Err()
}

type writer struct {
	b      *rtn.Builder
	p      *parser
	text   *lower.Writer
	tokens Tokens
	rules  map[string]rtn.Rule
}

func (w *writer) expr(from rtn.Node, e expr, to rtn.Node) error {
	if w.b.Full() {
		return w.b.Err()
	}
	switch e.op {
	case opText:
		w.b.Text(from, e.text, to)
	case opSet:
		w.text.Set(from, e.set, to)
	case opRule:
		w.b.Call(from, w.rules[e.text], to)
	case opToken:
		return w.token(from, e.text, to)
	case opCat:
		return w.sequence(from, e.subs, to)
	case opAlt:
		for _, s := range e.subs {
			if err := w.expr(from, s, to); err != nil {
				return err
			}
		}
	case opRepeat:
		return w.repeat(from, e, to)
	}
	return nil
}

func (w *writer) sequence(from rtn.Node, subs []expr, to rtn.Node) error {
	for _, s := range subs {
		next := w.b.Node()
		if err := w.expr(from, s, next); err != nil {
			return err
		}
		from = next
	}
	w.b.Eps(from, to)
	return nil
}

// repeat makes a rule of what is repeated, unless that is small, and calls it in a
// chain or a loop.
func (w *writer) repeat(from rtn.Node, e expr, to rtn.Node) error {
	sub := e.subs[0]
	once := func(from, to rtn.Node) error { return w.expr(from, sub, to) }
	if sub.op >= opCat && (e.min > 1 || e.max > 1) {
		r := w.b.Rule()
		if err := w.expr(w.b.Start(r), sub, w.b.End(r)); err != nil {
			return err
		}
		once = func(from, to rtn.Node) error { w.b.Call(from, r, to); return nil }
	}
	for range e.min {
		next := w.b.Node()
		if err := once(from, next); err != nil {
			return err
		}
		from = next
	}
	if e.max < 0 {
		loop := w.b.Node()
		w.b.Eps(from, loop)
		w.b.Eps(loop, to)
		return w.loop(loop, once)
	}
	for range e.max - e.min {
		w.b.Eps(from, to)
		next := w.b.Node()
		if err := once(from, next); err != nil {
			return err
		}
		from = next
	}
	w.b.Eps(from, to)
	return nil
}

// loop takes something from a node back to it. The body has ends of its own, so that
// what it leaves from is not the loop itself.
func (w *writer) loop(at rtn.Node, once func(from, to rtn.Node) error) error {
	in, out := w.b.Node(), w.b.Node()
	w.b.Eps(at, in)
	w.b.Eps(out, at)
	return once(in, out)
}

func (w *writer) token(from rtn.Node, text string, to rtn.Node) error {
	id, spelling := int64(-1), text
	if inner, ok := strings.CutPrefix(text, "<["); ok {
		n, err := strconv.ParseInt(strings.TrimSuffix(inner, "]>"), 10, 32)
		if err != nil || n < 0 {
			return errs.Newf(errs.InvalidRequest, "grammar: %s names no token by number", text)
		}
		id = n
	}
	name, ok := w.tokens(id, spelling)
	if !ok {
		return errs.Newf(errs.InvalidRequest, "grammar: the vocabulary has no single token %s that a constraint can use", text)
	}
	w.b.Text(from, name, to)
	return nil
}
