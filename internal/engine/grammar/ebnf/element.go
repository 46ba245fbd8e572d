package ebnf

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"macaron/internal/engine/grammar/auto"
	"macaron/internal/errs"
)

// element reads one text, class, group, token or name.
func (p *parser) element() (expr, error) {
	begin := p.at
	switch p.peek() {
	case '"':
		return p.literal()
	case '[':
		return p.class()
	case '.':
		p.at++
		return expr{op: opSet, set: auto.Any}, nil
	case '(':
		p.at++
		e, err := p.alternatives()
		if err == nil && !p.take(")") {
			err = p.fail(errs.InvalidRequest, "a group does not end")
		}
		return e, err
	case '<':
		return p.token()
	case '!':
		return expr{}, p.fail(errs.Unsupported, "! (any other token) is not supported")
	case '/':
		return expr{}, p.fail(errs.Unsupported, "/ (a regular expression, as in Lark) is not supported; this is GBNF")
	}
	name := p.name()
	if name == "" {
		return expr{}, p.fail(errs.InvalidRequest, "%q begins nothing that is known", p.src[p.at:min(p.at+1, len(p.src))])
	}
	if _, ok := p.used[name]; !ok {
		p.used[name] = begin
	}
	return expr{op: opRule, text: name}, nil
}

func (p *parser) literal() (expr, error) {
	p.at++
	var text strings.Builder
	for !p.take("\"") {
		r, err := p.char()
		if err != nil {
			return expr{}, err
		}
		text.WriteRune(r)
	}
	return expr{op: opText, text: text.String()}, nil
}

func (p *parser) class() (expr, error) {
	p.at++
	negate := p.take("^")
	var set auto.Set
	for !p.take("]") {
		lo, err := p.char()
		if err != nil {
			return expr{}, err
		}
		hi := lo
		if p.peek() == '-' && !strings.HasPrefix(p.src[p.at:], "-]") {
			p.at++
			if hi, err = p.char(); err != nil {
				return expr{}, err
			}
		}
		if hi < lo {
			return expr{}, p.fail(errs.InvalidRequest, "the range %q-%q does not ascend", lo, hi)
		}
		set = set.Or(auto.Between(lo, hi))
	}
	if negate {
		set = set.Not()
	}
	return expr{op: opSet, set: set}, nil
}

var controls = map[byte]rune{'n': '\n', 'r': '\r', 't': '\t', '\\': '\\', '"': '"', '[': '[', ']': ']', '-': '-', '^': '^', '/': '/', '\'': '\'', '0': 0, 'f': '\f', 'b': '\b', 'v': '\v'}

// char reads one character of a text or class.
func (p *parser) char() (rune, error) {
	if p.at >= len(p.src) {
		return 0, p.fail(errs.InvalidRequest, "a text or class does not end")
	}
	r, n := utf8.DecodeRuneInString(p.src[p.at:])
	p.at += n
	if r != '\\' {
		return r, nil
	}
	c := p.peek()
	p.at++
	if r, ok := controls[c]; ok {
		return r, nil
	}
	if n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]; n > 0 && p.at+n <= len(p.src) {
		v, err := strconv.ParseUint(p.src[p.at:p.at+n], 16, 32)
		if err == nil && v <= unicode.MaxRune && v>>11 != 0x1B {
			p.at += n
			return rune(v), nil
		}
	}
	return 0, p.fail(errs.InvalidRequest, "\\%c begins no escape that is known", c)
}

// token reads <[7]> or <name>.
func (p *parser) token() (expr, error) {
	end := strings.IndexByte(p.src[p.at:], '>')
	if end < 0 {
		return expr{}, p.fail(errs.InvalidRequest, "a token does not end")
	}
	text := p.src[p.at : p.at+end+1]
	p.at += end + 1
	return expr{op: opToken, text: text}, nil
}

// repeated reads the repetition behind an element.
func (p *parser) repeated(e expr) (expr, error) {
	for {
		lo, hi := 0, -1
		switch p.peek() {
		case '*':
		case '+':
			lo = 1
		case '?':
			hi = 1
		case '{':
			end := strings.IndexByte(p.src[p.at:], '}')
			if end < 0 {
				return e, p.fail(errs.InvalidRequest, "a { does not end")
			}
			var err error
			if lo, hi, err = p.counts(p.src[p.at+1 : p.at+end]); err != nil {
				return e, err
			}
			p.at += end
		default:
			return e, nil
		}
		p.at++
		if p.depth++; p.depth > maxNesting {
			return e, p.fail(errs.TooLarge, "repetitions are nested deeper than %d", maxNesting)
		}
		defer func() { p.depth-- }()
		e = expr{op: opRepeat, subs: []expr{e}, min: lo, max: hi}
	}
}

// counts reads m, m, or m,n.
func (p *parser) counts(text string) (lo, hi int, err error) {
	from, to, ranged := strings.Cut(strings.ReplaceAll(text, " ", ""), ",")
	bad := func() (int, int, error) {
		return 0, 0, p.fail(errs.InvalidRequest, "{%s} is no repetition; counts ascend and are at most %d", text, maxRepeat)
	}
	if from == "" && to != "" {
		from = "0"
	}
	if lo, err = strconv.Atoi(from); err != nil || lo < 0 || lo > maxRepeat {
		return bad()
	}
	if hi = lo; ranged {
		hi = -1
	}
	if to != "" {
		if hi, err = strconv.Atoi(to); err != nil || hi < lo || hi > maxRepeat {
			return bad()
		}
	}
	return lo, hi, nil
}
