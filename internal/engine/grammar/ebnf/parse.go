// Package ebnf reads context-free grammars in the notation of GBNF: rules
// `name ::= ...` with "texts", [classes], a dot for any character, (groups), |, *, +,
// ?, {m,n}, # comments, and <[7]> or <name> for a single token of the vocabulary. Left
// recursion is allowed.
package ebnf

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"macaron/internal/engine/grammar/auto"
	"macaron/internal/errs"
)

// The bounds of a source.
const (
	maxSource  = 1 << 20 // bytes
	maxNesting = 200
	maxRepeat  = 1 << 16
)

// expr is the right side of a rule.
type expr struct {
	op       op
	set      auto.Set // one rune
	text     string   // a literal, the name of a rule or token
	subs     []expr
	min, max int // max -1: no bound
}

type op uint8

const (
	opText op = iota
	opSet
	opRule
	opToken
	opCat
	opAlt
	opRepeat
)

// parser reads a source; its first error stays.
type parser struct {
	src   string
	at    int
	depth int
	rules map[string]expr
	order []string
	used  map[string]int // where a rule is first named
}

func parse(src string) (*parser, error) {
	p := &parser{src: src, rules: map[string]expr{}, used: map[string]int{}}
	if len(src) > maxSource || !utf8.ValidString(src) {
		return nil, p.fail(errs.InvalidRequest, "it is longer than %d bytes or not UTF-8", maxSource)
	}
	for p.space(); p.at < len(p.src); p.space() {
		if err := p.rule(); err != nil {
			return nil, err
		}
	}
	return p, p.complete()
}

// complete refuses names without a rule.
func (p *parser) complete() error {
	if _, ok := p.rules["root"]; !ok {
		return errs.New(errs.InvalidRequest, "the grammar has no rule root", "name the rule of the whole answer root")
	}
	for _, name := range slices.Sorted(maps.Keys(p.used)) {
		if _, ok := p.rules[name]; !ok {
			p.at = p.used[name]
			return p.fail(errs.InvalidRequest, "there is no rule %s; there are: %s", name, strings.Join(p.order, ", "))
		}
	}
	return nil
}

func (p *parser) fail(code errs.Code, format string, args ...any) error {
	line := 1 + strings.Count(p.src[:min(p.at, len(p.src))], "\n")
	return errs.Newf(code, "grammar, line %d: %s", line, fmt.Sprintf(format, args...))
}

// space skips white space and comments.
func (p *parser) space() {
	for p.at < len(p.src) {
		switch p.src[p.at] {
		case '#':
			if end := strings.IndexByte(p.src[p.at:], '\n'); end >= 0 {
				p.at += end
			} else {
				p.at = len(p.src)
			}
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

func (p *parser) take(s string) bool {
	if !strings.HasPrefix(p.src[p.at:], s) {
		return false
	}
	p.at += len(s)
	return true
}

func (p *parser) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

// name reads the name of a rule, empty if there is none.
func (p *parser) name() string {
	begin := p.at
	for p.at < len(p.src) {
		c := p.src[p.at]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			break
		}
		p.at++
	}
	return p.src[begin:p.at]
}

// head reads a name and ::= ; it moves nothing if they are not there.
func (p *parser) head() string {
	begin := p.at
	name := p.name()
	p.space()
	if name == "" || !p.take("::=") {
		p.at = begin
		return ""
	}
	return name
}

func (p *parser) rule() error {
	name := p.head()
	if name == "" {
		if p.peek() == '%' {
			return p.fail(errs.Unsupported, "directives such as %%import are not supported; this is GBNF, not Lark")
		}
		return p.fail(errs.InvalidRequest, "here a rule should begin: name ::= ...")
	}
	if _, dup := p.rules[name]; dup {
		return p.fail(errs.InvalidRequest, "the rule %s stands there twice", name)
	}
	e, err := p.alternatives()
	if err != nil {
		return err
	}
	p.rules[name] = e
	p.order = append(p.order, name)
	return nil
}

func (p *parser) alternatives() (expr, error) {
	if p.depth++; p.depth > maxNesting {
		return expr{}, p.fail(errs.TooLarge, "groups are nested deeper than %d", maxNesting)
	}
	defer func() { p.depth-- }()
	var subs []expr
	for {
		e, err := p.sequence()
		if err != nil {
			return e, err
		}
		if subs = append(subs, e); !p.take("|") {
			return one(opAlt, subs), nil
		}
	}
}

func one(o op, subs []expr) expr {
	if len(subs) == 1 {
		return subs[0]
	}
	return expr{op: o, subs: subs}
}

// sequence reads elements until |, ), the next rule or the end.
func (p *parser) sequence() (expr, error) {
	var subs []expr
	for {
		p.space()
		if c := p.peek(); c == 0 && p.at >= len(p.src) || c == '|' || c == ')' {
			return one(opCat, subs), nil
		}
		begin := p.at
		if p.head() != "" {
			p.at = begin
			return one(opCat, subs), nil
		}
		e, err := p.element()
		if err == nil {
			e, err = p.repeated(e)
		}
		if err != nil {
			return e, err
		}
		subs = append(subs, e)
	}
}
