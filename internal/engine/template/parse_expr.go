package template

import (
	"slices"
	"strconv"
)

// expr reads a whole expression: a value, perhaps with "if … else …" behind it.
func (p *parser) expr() expr {
	defer p.enter()()
	x := p.or()
	for p.accept(tokName, "if") {
		c := &condExpr{cond: p.or(), then: x}
		if p.accept(tokName, "else") {
			c.alt = p.expr()
		}
		x = c
	}
	return x
}

// tuple reads expressions with commas between: one stays itself, more make a tuple.
func (p *parser) tuple() expr { return p.tupleOf(p.expr) }

func (p *parser) tupleOf(item func() expr) expr {
	first := item()
	if !p.is(tokOp, ",") {
		return first
	}
	t := &listExpr{items: []expr{first}, tuple: true}
	for p.accept(tokOp, ",") {
		if p.endOfTuple() {
			break
		}
		t.items = append(t.items, item())
	}
	return t
}

func (p *parser) endOfTuple() bool {
	t := p.tok()
	return t.kind == tokClose || t.kind == tokEndTag || t.kind == tokOp && (t.text == ")" || t.text == "=")
}

func (p *parser) or() expr {
	x := p.and()
	for p.accept(tokName, "or") {
		x = &logicExpr{true, x, p.and()}
	}
	return x
}

func (p *parser) and() expr {
	x := p.not()
	for p.accept(tokName, "and") {
		x = &logicExpr{false, x, p.not()}
	}
	return x
}

func (p *parser) not() expr {
	if p.is(tokName, "not") {
		defer p.enter()()
		p.at++
		return &notExpr{p.not()}
	}
	return p.compare()
}

func (p *parser) compare() expr {
	first := p.sum()
	c := &compareExpr{first: first}
	for {
		t := p.tok()
		switch {
		case t.kind == tokOp && slices.Contains([]string{"==", "!=", "<", ">", "<=", ">="}, t.text):
			p.at++
			c.ops = append(c.ops, t.text)
		case p.accept(tokName, "in"):
			c.ops = append(c.ops, "in")
		case p.is(tokName, "not") && p.toks[p.at+1].kind == tokName && p.toks[p.at+1].text == "in":
			p.at += 2
			c.ops = append(c.ops, "not in")
		default:
			if len(c.ops) == 0 {
				return first
			}
			return c
		}
		c.rest = append(c.rest, p.sum())
	}
}

// levels of the binary operators, loosest first.
var levels = [][]string{{"+", "-"}, {"~"}, {"*", "/", "//", "%"}, {"**"}}

func (p *parser) sum() expr { return p.binary(0) }

func (p *parser) binary(level int) expr {
	if level == len(levels) {
		return p.unary(true)
	}
	x := p.binary(level + 1)
	for p.tok().kind == tokOp && slices.Contains(levels[level], p.tok().text) {
		op := p.next().text
		x = &binaryExpr{op, x, p.binary(level + 1)}
	}
	return x
}

// unary reads a signed or plain value with its postfixes; filters bind to the sign
// and all.
func (p *parser) unary(filters bool) expr {
	defer p.enter()()
	var x expr
	switch {
	case p.accept(tokOp, "-"):
		x = &signExpr{p.unary(false)}
	case p.accept(tokOp, "+"):
		x = &plusExpr{p.unary(false)}
	default:
		x = p.primary()
	}
	x = p.postfix(x)
	if filters {
		x = p.filtered(x)
	}
	return x
}

var constants = map[string]value{"true": true, "True": true, "false": false, "False": false, "none": nil, "None": nil}

func (p *parser) primary() expr {
	t := p.next()
	switch t.kind {
	case tokName:
		if v, ok := constants[t.text]; ok {
			return &litExpr{v}
		}
		p.names[t.text] = true
		return &nameExpr{t.text}
	case tokString:
		for p.tok().kind == tokString {
			t.text += p.next().text
		}
		return &litExpr{own(t.text)}
	case tokNumber:
		return p.number(t.text)
	case tokOp:
		switch t.text {
		case "(":
			return p.parens()
		case "[":
			return &listExpr{items: p.items("]")}
		case "{":
			return p.dict()
		}
	}
	p.at--
	p.fail("unexpected %q", t.text)
	return nil
}

func (p *parser) number(s string) expr {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return &litExpr{n}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		p.fail("the number %s is too large", s)
	}
	return &litExpr{f}
}

func (p *parser) parens() expr {
	if p.accept(tokOp, ")") {
		return &listExpr{tuple: true}
	}
	x := p.tuple()
	p.expect(tokOp, ")")
	return x
}

// items reads expressions up to a closing bracket; a comma may end them.
func (p *parser) items(end string) []expr {
	var out []expr
	for !p.accept(tokOp, end) {
		out = append(out, p.expr())
		if !p.is(tokOp, end) {
			p.expect(tokOp, ",")
		}
	}
	return out
}

func (p *parser) dict() expr {
	d := &dictExpr{}
	for !p.accept(tokOp, "}") {
		d.keys = append(d.keys, p.expr())
		p.expect(tokOp, ":")
		d.vals = append(d.vals, p.expr())
		if !p.is(tokOp, "}") {
			p.expect(tokOp, ",")
		}
	}
	return d
}

// postfix reads .name, [index], (args) behind a value. Each lies one level deeper.
func (p *parser) postfix(x expr) expr {
	for n := 0; ; n++ {
		if n > maxNesting {
			p.fail("more than %d attributes in a row", maxNesting)
		}
		switch {
		case p.accept(tokOp, "."):
			if t := p.tok(); t.kind == tokNumber {
				x = &indexExpr{x, p.number(p.next().text)}
				continue
			}
			x = &attrExpr{x, p.name()}
		case p.accept(tokOp, "["):
			x = p.subscript(x)
		case p.accept(tokOp, "("):
			x = p.arguments(x)
		default:
			return x
		}
	}
}

func (p *parser) subscript(x expr) expr {
	var parts [3]expr
	colons := 0
	for !p.is(tokOp, "]") {
		if p.accept(tokOp, ":") {
			if colons++; colons > 2 {
				p.fail("a slice has at most two colons")
			}
			continue
		}
		parts[colons] = p.tuple()
		if !p.is(tokOp, "]") && !p.is(tokOp, ":") {
			p.expect(tokOp, "]")
		}
	}
	p.at++
	if colons > 0 {
		return &sliceExpr{x, parts[0], parts[1], parts[2]}
	}
	if parts[0] == nil {
		p.fail("an index is missing")
	}
	return &indexExpr{x, parts[0]}
}

func (p *parser) arguments(fn expr) *callExpr {
	c := &callExpr{fn: fn}
	for !p.accept(tokOp, ")") {
		if t, eq := p.tok(), p.toks[p.at+1]; t.kind == tokName && eq.kind == tokOp && eq.text == "=" {
			p.at += 2
			c.keys = append(c.keys, t.text)
			c.vals = append(c.vals, p.expr())
		} else if len(c.keys) > 0 {
			p.fail("a positional argument follows a named one")
		} else {
			c.args = append(c.args, p.expr())
		}
		if !p.is(tokOp, ")") {
			p.expect(tokOp, ",")
		}
	}
	return c
}

// filtered reads |filter, is test and calls behind a value.
func (p *parser) filtered(x expr) expr {
	for n := 0; ; n++ {
		if n > maxNesting {
			p.fail("more than %d filters in a row", maxNesting)
		}
		switch {
		case p.accept(tokOp, "|"):
			x = p.filter(x)
		case p.accept(tokName, "is"):
			x = p.test(x)
		case p.accept(tokOp, "("):
			x = p.arguments(x)
		default:
			return x
		}
	}
}

func (p *parser) filter(x expr) *filterExpr {
	f := &filterExpr{x: x, name: p.name()}
	if p.accept(tokOp, "(") {
		f.callExpr = *p.arguments(nil)
	}
	return f
}

func (p *parser) test(x expr) expr {
	negated := p.accept(tokName, "not")
	t := &testExpr{x: x, name: p.name()}
	if _, ok := tests[t.name]; !ok {
		p.fail("the test %q is not built in", t.name)
	}
	next := p.tok()
	switch {
	case p.accept(tokOp, "("):
		t.args = p.items(")")
	case next.kind == tokString, next.kind == tokNumber, next.kind == tokOp && (next.text == "[" || next.text == "{"),
		next.kind == tokName && !slices.Contains([]string{"else", "or", "and", "is", "if", "in", "not", "recursive"}, next.text):
		t.args = []expr{p.postfix(p.primary())}
	}
	if len(t.args) == 0 && p.is(tokName, "is") {
		p.fail("a test cannot follow a test")
	}
	if negated {
		return &notExpr{t}
	}
	return t
}
