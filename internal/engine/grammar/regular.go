package grammar

import (
	"macaron/internal/engine/grammar/auto"
	"macaron/internal/engine/grammar/ebnf"
	"macaron/internal/engine/grammar/lower"
	"macaron/internal/engine/grammar/rtn"
	"macaron/internal/errs"
)

// autoBudget bounds the automata of one constraint: their states and edges, and the
// states of nondeterministic ones that they stand for.
const autoBudget = 60_000

// Regex keeps an answer to a regular expression, which it matches as a whole; ^ and $
// may be written and change nothing.
func (v *Vocab) Regex(pattern string) (*Grammar, error) {
	e, err := auto.Parse(pattern)
	if err != nil {
		return nil, err
	}
	b := &rtn.Builder{}
	r, w := b.Rule(), lower.Text(b)
	if whole, ok := e.Whole(); ok {
		w.Expr(b.Start(r), whole, b.End(r))
		return v.compile(b, r)
	}
	d, err := auto.Compile(e, auto.NewBudget(autoBudget))
	if err != nil {
		return nil, err
	}
	w.DFA(b.Start(r), d, b.End(r))
	return v.compile(b, r)
}

// EBNF keeps an answer to a context-free grammar in GBNF whose first symbol is root.
func (v *Vocab) EBNF(source string) (*Grammar, error) {
	b := &rtn.Builder{}
	r, err := ebnf.Build(b, source, v.token)
	if err != nil {
		return nil, err
	}
	return v.compile(b, r)
}

// token finds the bytes that ask for one token. Those of a token that text can spell
// too ask for the text.
func (v *Vocab) token(id int64, spelling string) (string, bool) {
	if id < 0 {
		found, ok := v.tok.ID(spelling)
		if !ok {
			return "", false
		}
		id = int64(found)
	}
	if id >= int64(v.size) {
		return "", false
	}
	name := v.name(int32(id))
	return string(name), len(name) > 0
}

// Choice keeps an answer to one of some texts.
func (v *Vocab) Choice(texts []string) (*Grammar, error) {
	if len(texts) == 0 {
		return nil, errs.New(errs.InvalidRequest, "there is nothing to choose from", "give at least one text")
	}
	b := &rtn.Builder{}
	r := b.Rule()
	for _, t := range texts {
		if b.Full() {
			break
		}
		b.Text(b.Start(r), t, b.End(r))
	}
	return v.compile(b, r)
}
