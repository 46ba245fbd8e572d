package auto

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"macaron/internal/errs"
)

// The bounds of a regular expression.
const (
	maxPattern = 1 << 16 // bytes
	maxNesting = 200
	maxRepeat  = 1 << 16
)

// Parse reads a regular expression: the syntax that ECMA-262, RE2 and Python share,
// without what no finite automaton can do. \d and \w are ASCII, \s is Unicode's white
// space and a dot is any rune but a line break, as in ECMA-262. What is not supported
// is refused by name.
func Parse(pattern string) (Expr, error) {
	p := &parser{src: pattern}
	if len(pattern) > maxPattern || !utf8.ValidString(pattern) {
		return Expr{}, p.fail(errs.InvalidRequest, "it is longer than %d bytes or not UTF-8", maxPattern)
	}
	e, err := p.alternatives()
	if err == nil && p.at < len(p.src) {
		err = p.fail(errs.InvalidRequest, "a ) closes nothing")
	}
	return e, err
}

type parser struct {
	src   string
	at    int
	depth int
	fold  bool // (?i)
	all   bool // (?s): a dot is any rune
}

func (p *parser) fail(code errs.Code, format string, args ...any) error {
	shown := p.src
	if len(shown) > 60 {
		shown = strings.ToValidUTF8(shown[:60], "") + "..."
	}
	return errs.Newf(code, "regular expression %q, byte %d: %s", shown, p.at, fmt.Sprintf(format, args...))
}

func (p *parser) unsupported(what string) error {
	return p.fail(errs.Unsupported, "%s is not supported", what)
}

// next takes a rune; 0 at the end.
func (p *parser) next() rune {
	if p.at >= len(p.src) {
		return 0
	}
	r, n := utf8.DecodeRuneInString(p.src[p.at:])
	p.at += n
	return r
}

// take moves behind s if it comes next.
func (p *parser) take(s string) bool {
	if !strings.HasPrefix(p.src[p.at:], s) {
		return false
	}
	p.at += len(s)
	return true
}

func (p *parser) more() bool { return p.at < len(p.src) }

func (p *parser) alternatives() (Expr, error) {
	if p.depth++; p.depth > maxNesting {
		return Expr{}, p.fail(errs.TooLarge, "groups are nested deeper than %d", maxNesting)
	}
	defer func() { p.depth-- }()
	fold, all := p.fold, p.all
	defer func() { p.fold, p.all = fold, all }()
	var subs []Expr
	for {
		e, err := p.sequence()
		if err != nil {
			return e, err
		}
		if subs = append(subs, e); !p.take("|") {
			return Alt(subs...), nil
		}
	}
}

func (p *parser) sequence() (Expr, error) {
	var subs []Expr
	for p.more() && p.src[p.at] != '|' && p.src[p.at] != ')' {
		e, err := p.atom()
		if err == nil {
			e, err = p.counted(e)
		}
		if err != nil {
			return e, err
		}
		subs = append(subs, e)
	}
	return Cat(subs...), nil
}

func (p *parser) atom() (Expr, error) {
	switch r := p.next(); r {
	case '^':
		return Expr{op: opBegin}, nil
	case '$':
		return Expr{op: opEnd}, nil
	case '.':
		if p.all {
			return One(Any), nil
		}
		return One(Of('\n', '\r', 0x2028, 0x2029).Not()), nil
	case '(':
		return p.group()
	case '[':
		s, err := p.class()
		return One(p.cased(s)), err
	case '\\':
		return p.escape()
	case '*', '+', '?':
		p.at--
		return Expr{}, p.fail(errs.InvalidRequest, "%c repeats nothing", r)
	default:
		return One(p.cased(Of(r))), nil
	}
}

func (p *parser) cased(s Set) Set {
	if p.fold {
		return s.folded()
	}
	return s
}

// group reads what follows an opening parenthesis.
func (p *parser) group() (Expr, error) {
	begin := p.at
	for _, look := range []string{"?=", "?!", "?<=", "?<!"} {
		if p.take(look) {
			p.at = begin
			return Expr{}, p.unsupported("looking ahead or behind, (" + look + ",")
		}
	}
	for _, other := range []string{"?>", "?#", "?(", "?|", "?&", "?R", "?P=", "?P>"} {
		if p.take(other) {
			p.at = begin
			return Expr{}, p.unsupported("(" + other)
		}
	}
	if p.take("?P<") || p.take("?<") {
		end := strings.IndexByte(p.src[p.at:], '>')
		if end <= 0 {
			return Expr{}, p.fail(errs.InvalidRequest, "the name of a group does not end")
		}
		p.at += end + 1
	} else if p.take("?") {
		fold, all := p.fold, p.all
		if alone, err := p.flags(); alone || err != nil {
			return Expr{}, err
		}
		defer func() { p.fold, p.all = fold, all }()
	}
	e, err := p.alternatives()
	if err == nil && !p.take(")") {
		err = p.fail(errs.InvalidRequest, "a group does not end")
	}
	return e, err
}

// flags reads i, s and their like; alone tells that they hold until the group around
// them ends.
func (p *parser) flags() (alone bool, err error) {
	fold, all, on := p.fold, p.all, true
	for {
		switch r := p.next(); r {
		case 'i':
			fold = on
		case 's':
			all = on
		case '-':
			on = false
		case ':', ')':
			p.fold, p.all = fold, all
			return r == ')', nil
		default:
			return false, p.unsupported(fmt.Sprintf("the flag %q", r))
		}
	}
}
