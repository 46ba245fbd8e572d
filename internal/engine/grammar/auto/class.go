package auto

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"macaron/internal/errs"
)

// The classes of ECMA-262.
var (
	Digit = Between('0', '9')
	Word  = Between('0', '9').Or(Between('A', 'Z')).Or(Between('a', 'z')).Or(Of('_'))
	Space = Between('\t', '\r').Or(Of(' ', 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF)).Or(Between(0x2000, 0x200A))
)

// posix are the classes within brackets that RE2 knows.
var posix = map[string]Set{
	"alnum": Between('0', '9').Or(Between('A', 'Z')).Or(Between('a', 'z')), "alpha": Between('A', 'Z').Or(Between('a', 'z')),
	"digit": Digit, "lower": Between('a', 'z'), "upper": Between('A', 'Z'), "space": Between('\t', '\r').Or(Of(' ')), "word": Word,
	"xdigit": Digit.Or(Between('A', 'F')).Or(Between('a', 'f')), "punct": Between('!', '/').Or(Between(':', '@')).Or(Between('[', '`')).Or(Between('{', '~')),
	"cntrl": Between(0, 0x1F).Or(Of(0x7F)), "print": Between(' ', '~'), "graph": Between('!', '~'), "blank": Of(' ', '\t'), "ascii": Between(0, 0x7F),
}

// class reads what follows an opening bracket. As in ECMA-262, [] is no rune and [^] any.
func (p *parser) class() (Set, error) {
	var s Set
	negate := p.take("^")
	for !p.take("]") {
		if !p.more() {
			return nil, p.fail(errs.InvalidRequest, "a [ does not end")
		}
		part, err := p.member()
		if err != nil {
			return nil, err
		}
		s = append(s, part...)
	}
	if s = normal(s); negate {
		return p.cased(s).Not(), nil
	}
	return s, nil
}

// member reads one rune, range or class within brackets.
func (p *parser) member() (Set, error) {
	if p.take("[:") {
		end := strings.Index(p.src[p.at:], ":]")
		if end >= 0 {
			if s, ok := posix[p.src[p.at:p.at+end]]; ok {
				p.at += end + 2
				return s, nil
			}
		}
		return nil, p.fail(errs.InvalidRequest, "[: begins no class that is known")
	}
	lo, set, err := p.classRune()
	if err != nil || set != nil {
		return set, err
	}
	if p.at+1 >= len(p.src) || p.src[p.at] != '-' || p.src[p.at+1] == ']' {
		return Of(lo), nil
	}
	p.at++
	hi, set, err := p.classRune()
	switch {
	case err != nil:
		return nil, err
	case set != nil || hi < lo:
		return nil, p.fail(errs.InvalidRequest, "a range does not ascend")
	}
	return Set{{lo, hi}}, nil
}

// classRune reads one rune, or the set that an escape stands for.
func (p *parser) classRune() (rune, Set, error) {
	r := p.next()
	if r != '\\' {
		return r, nil, nil
	}
	if p.take("b") {
		return '\b', nil, nil
	}
	return p.escaped()
}

// escape reads what follows a backslash outside of brackets.
func (p *parser) escape() (Expr, error) {
	if p.more() {
		switch c := p.src[p.at]; {
		case c == 'b' || c == 'B':
			return Expr{}, p.unsupported("\\" + string(c) + ", the border of a word,")
		case c >= '1' && c <= '9' || c == 'k':
			return Expr{}, p.unsupported("a reference back, \\" + string(c) + ",")
		case c == 'A':
			p.at++
			return Expr{op: opBegin}, nil
		case c == 'z' || c == 'Z':
			p.at++
			return Expr{op: opEnd}, nil
		}
	}
	r, set, err := p.escaped()
	if set == nil && err == nil {
		set = Of(r)
	}
	return One(p.cased(set)), err
}

var shorthand = map[rune]Set{'d': Digit, 'w': Word, 's': Space, 'D': Digit.Not(), 'W': Word.Not(), 'S': Space.Not()}

var controls = map[rune]rune{'n': '\n', 'r': '\r', 't': '\t', 'f': '\f', 'v': '\v', 'a': '\a', 'e': 0x1B, '0': 0}

// escaped reads an escape that stands for a rune or a set.
func (p *parser) escaped() (rune, Set, error) {
	if !p.more() {
		return 0, nil, p.fail(errs.InvalidRequest, "a backslash ends it")
	}
	r := p.next()
	if s, ok := shorthand[r]; ok {
		return 0, s, nil
	}
	if c, ok := controls[r]; ok {
		return c, nil, nil
	}
	switch r {
	case 'x':
		return p.hex(2)
	case 'u':
		return p.hex(4)
	case 'c':
		c := p.next()
		if c|0x20 < 'a' || c|0x20 > 'z' {
			return 0, nil, p.fail(errs.InvalidRequest, "\\c names no control character")
		}
		return c & 0x1F, nil, nil
	case 'p', 'P':
		s, err := p.property()
		if r == 'P' && err == nil {
			s = s.Not()
		}
		return 0, s, err
	}
	if r < 0x80 && (r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
		return 0, nil, p.unsupported(fmt.Sprintf("\\%c", r))
	}
	return r, nil, nil
}

// hex reads n digits, or any number within braces.
func (p *parser) hex(n int) (rune, Set, error) {
	text := ""
	if p.take("{") {
		end := strings.IndexByte(p.src[p.at:], '}')
		if end < 0 {
			return 0, nil, p.fail(errs.InvalidRequest, "a { does not end")
		}
		text = p.src[p.at : p.at+end]
		p.at += end + 1
	} else if p.at+n <= len(p.src) {
		text = p.src[p.at : p.at+n]
		p.at += n
	}
	v, err := strconv.ParseUint(text, 16, 32)
	if err != nil || v > unicode.MaxRune {
		return 0, nil, p.fail(errs.InvalidRequest, "%q is not the number of a character", text)
	}
	if v>>11 == 0x1B { // a surrogate: the second of a pair may follow
		return p.surrogates(rune(v))
	}
	return rune(v), nil, nil
}

func (p *parser) surrogates(hi rune) (rune, Set, error) {
	if hi < 0xDC00 && p.take("\\u") && p.at+4 <= len(p.src) {
		lo, err := strconv.ParseUint(p.src[p.at:p.at+4], 16, 32)
		if err == nil && lo>>10 == 0x37 {
			p.at += 4
			return 0x10000 + (hi-0xD800)<<10 + rune(lo) - 0xDC00, nil, nil
		}
	}
	return 0, nil, p.unsupported("half of a surrogate pair")
}

// property reads the name behind \p.
func (p *parser) property() (Set, error) {
	name := ""
	if p.take("{") {
		end := strings.IndexByte(p.src[p.at:], '}')
		if end < 0 {
			return nil, p.fail(errs.InvalidRequest, "a { does not end")
		}
		name = p.src[p.at : p.at+end]
		p.at += end + 1
	} else if p.more() {
		name = string(p.next())
	}
	for _, prefix := range []string{"Script=", "sc=", "General_Category=", "gc="} {
		name = strings.TrimPrefix(name, prefix)
	}
	name, negate := strings.CutPrefix(name, "^")
	s, ok := propertySet(name)
	if !ok {
		return nil, p.unsupported("the Unicode property " + strconv.Quote(name))
	}
	if negate {
		s = s.Not()
	}
	return s, nil
}

func propertySet(name string) (Set, bool) {
	if name == "Any" {
		return Any, true
	}
	if name == "ASCII" {
		return Between(0, 0x7F), true
	}
	if short, ok := unicode.CategoryAliases[name]; ok {
		name = short
	}
	for _, tables := range []map[string]*unicode.RangeTable{unicode.Categories, unicode.Scripts, unicode.Properties} {
		if t, ok := tables[name]; ok {
			return table(t), true
		}
	}
	return nil, false
}
