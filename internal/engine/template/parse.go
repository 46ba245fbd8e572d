package template

// maxNesting bounds how deep statements and expressions may lie in one another.
const maxNesting = 150

type parser struct {
	toks  []tok
	at    int
	depth int
	names map[string]bool
}

func (p *parser) tok() tok { return p.toks[p.at] }

func (p *parser) next() tok {
	t := p.toks[p.at]
	if t.kind != tokEOF {
		p.at++
	}
	return t
}

func (p *parser) fail(format string, args ...any) {
	defer func() {
		f := recover().(failure)
		f.line = p.tok().line
		panic(f)
	}()
	fail(format, args...)
}

// enter counts nesting; the caller defers the function it returns.
func (p *parser) enter() func() {
	if p.depth++; p.depth > maxNesting {
		p.fail("more than %d levels of nesting", maxNesting)
	}
	return func() { p.depth-- }
}

func (p *parser) is(kind tokKind, text string) bool {
	t := p.tok()
	return t.kind == kind && t.text == text
}

// accept takes the next token if it is the one asked for.
func (p *parser) accept(kind tokKind, text string) bool {
	if !p.is(kind, text) {
		return false
	}
	p.at++
	return true
}

func (p *parser) expect(kind tokKind, text string) {
	if !p.accept(kind, text) {
		p.fail("unexpected %q where %q must stand", p.tok().text, text)
	}
}

func (p *parser) name() string {
	if p.tok().kind != tokName {
		p.fail("unexpected %q where a name must stand", p.tok().text)
	}
	return p.next().text
}

// body reads statements up to the end or up to a tag that none of them starts
// with: end…, else, elif.
func (p *parser) body() []stmt {
	defer p.enter()()
	var out []stmt
	for {
		switch t := p.tok(); t.kind {
		case tokText:
			p.at++
			out = append(out, &textStmt{own(t.text)})
		case tokOpen:
			p.at++
			x := p.tuple()
			p.expect(tokClose, "}}")
			out = append(out, &showStmt{t.line, x})
		case tokTag:
			s := p.statement(t.line)
			if s == nil {
				return out
			}
			out = append(out, s)
		default:
			return out
		}
	}
}

// ends tells whether the parser stands at a tag that starts with one of names.
func (p *parser) ends(names ...string) bool {
	if p.tok().kind != tokTag {
		return false
	}
	for _, n := range names {
		if t := p.toks[p.at+1]; t.kind == tokName && t.text == n {
			return true
		}
	}
	return false
}

// close reads a whole tag of one word.
func (p *parser) close(name string) {
	if !p.ends(name) {
		p.fail("{%% %s %%} is missing", name)
	}
	p.at += 2
	p.endTag()
}

func (p *parser) endTag() { p.expect(tokEndTag, "%}") }

// statement reads one {% … %} and what belongs to it; nil at a tag that ends or
// continues an outer statement.
func (p *parser) statement(line int) stmt {
	keyword := p.toks[p.at+1].text
	read, ok := statements[keyword]
	if !ok {
		switch keyword {
		case "else", "elif", "endif", "endfor", "endset", "endmacro", "endcall", "endfilter", "endwith", "endgeneration":
			return nil
		}
		p.fail("the tag %q is not built in", keyword)
	}
	p.at += 2
	return read(p, line)
}

var statements map[string]func(*parser, int) stmt

func init() { // not a literal: the readers refer back to the table
	jump := func(sig signal) func(*parser, int) stmt {
		return func(p *parser, _ int) stmt {
			p.endTag()
			return &jumpStmt{sig}
		}
	}
	statements = map[string]func(*parser, int) stmt{
		"if": (*parser).ifTag, "for": (*parser).forTag, "set": (*parser).setTag, "macro": (*parser).macroTag,
		"call": (*parser).callTag, "filter": (*parser).filterTag, "with": (*parser).withTag, "generation": (*parser).generationTag,
		"break": jump(breakLoop), "continue": jump(continueLoop),
	}
}

func (p *parser) ifTag(line int) stmt {
	s := &ifStmt{line: line, cond: p.tuple()}
	p.endTag()
	s.then = p.body()
	switch {
	case p.ends("elif"):
		defer p.enter()()
		at := p.tok().line
		p.at += 2
		s.alts = []stmt{p.ifTag(at)}
		return s
	case p.ends("else"):
		p.close("else")
		s.alts = p.body()
	}
	p.close("endif")
	return s
}

func (p *parser) forTag(line int) stmt {
	s := &forStmt{line: line, target: p.target()}
	p.expect(tokName, "in")
	s.over = p.tupleOf(p.or) // "if" here starts the loop's filter
	if p.accept(tokName, "if") {
		s.filter = p.expr()
	}
	if p.is(tokName, "recursive") {
		p.fail("recursive loops are not built in")
	}
	p.endTag()
	s.body = p.body()
	if p.ends("else") {
		p.close("else")
		s.alts = p.body()
	}
	p.close("endfor")
	return s
}

// target reads what a loop or set assigns to: a name, name.attr or a tuple.
func (p *parser) target() expr {
	defer p.enter()()
	var items []expr
	tuple := false
	for {
		if p.accept(tokOp, "(") {
			items = append(items, p.target())
			p.expect(tokOp, ")")
		} else {
			var x expr = &nameExpr{p.name()}
			if p.accept(tokOp, ".") {
				x = &attrExpr{x, p.name()}
			}
			items = append(items, x)
		}
		if !p.accept(tokOp, ",") {
			break
		}
		tuple = true
		if t := p.tok(); t.kind != tokName || t.text == "in" {
			break
		}
	}
	if tuple {
		return &listExpr{items: items, tuple: true}
	}
	return items[0]
}

func (p *parser) setTag(line int) stmt {
	target := p.target()
	if p.accept(tokOp, "=") {
		s := &setStmt{line, target, p.tuple()}
		p.endTag()
		return s
	}
	s := &setBlock{line: line, target: target}
	if p.accept(tokOp, "|") {
		s.filters = p.filterChain()
	}
	p.endTag()
	s.body = p.body()
	p.close("endset")
	return s
}

// filterChain reads name(args)|name… without a value in front.
func (p *parser) filterChain() []*filterExpr {
	chain := []*filterExpr{p.filter(nil)}
	for p.accept(tokOp, "|") {
		chain = append(chain, p.filter(nil))
	}
	return chain
}

func (p *parser) macroTag(line int) stmt {
	s := &macroStmt{line: line, name: p.name()}
	p.signature(s)
	p.endTag()
	s.body = p.body()
	p.close("endmacro")
	return s
}

// signature reads (a, b=1).
func (p *parser) signature(s *macroStmt) {
	p.expect(tokOp, "(")
	for !p.accept(tokOp, ")") {
		s.params = append(s.params, p.name())
		if p.accept(tokOp, "=") {
			s.defaults = append(s.defaults, p.expr())
		} else if len(s.defaults) > 0 {
			p.fail("a parameter without a default follows one with a default")
		}
		if !p.is(tokOp, ")") {
			p.expect(tokOp, ",")
		}
	}
}

func (p *parser) callTag(line int) stmt {
	s := &callBlock{line: line, caller: &macroStmt{line: line, name: "caller"}}
	if p.is(tokOp, "(") {
		p.signature(s.caller)
	}
	call, ok := p.expr().(*callExpr)
	if !ok {
		p.fail("a call block needs a call")
	}
	s.call = call
	p.endTag()
	s.caller.body = p.body()
	p.close("endcall")
	return s
}

func (p *parser) filterTag(line int) stmt {
	s := &filterBlock{line: line, filters: p.filterChain()}
	p.endTag()
	s.body = p.body()
	p.close("endfilter")
	return s
}

func (p *parser) withTag(line int) stmt {
	s := &scopeStmt{line: line}
	for !p.is(tokEndTag, "%}") {
		s.names = append(s.names, p.name())
		p.expect(tokOp, "=")
		s.inits = append(s.inits, p.expr())
		if !p.is(tokEndTag, "%}") {
			p.expect(tokOp, ",")
		}
	}
	p.endTag()
	s.body = p.body()
	p.close("endwith")
	return s
}

func (p *parser) generationTag(line int) stmt {
	p.endTag()
	s := &scopeStmt{line: line, body: p.body()}
	p.close("endgeneration")
	return s
}
