package auto

import (
	"strconv"
	"strings"

	"macaron/internal/errs"
)

// counted reads the repetition behind an atom.
func (p *parser) counted(e Expr) (Expr, error) {
	lo, hi, ok, err := p.counts()
	if err != nil || !ok {
		return e, err
	}
	p.take("?") // a lazy repetition matches the same texts
	if p.take("+") {
		p.at--
		return e, p.unsupported("a possessive repetition")
	}
	if p.more() && strings.IndexByte("*?", p.src[p.at]) >= 0 {
		return e, p.fail(errs.InvalidRequest, "a repetition is repeated")
	}
	if hi >= 0 && lo > hi || lo > maxRepeat || hi > maxRepeat {
		return e, p.fail(errs.InvalidRequest, "it repeats %d to %d times; counts ascend and are at most %d", lo, hi, maxRepeat)
	}
	if e.op == opBegin || e.op == opEnd {
		return e, p.unsupported("the repetition of ^ or $")
	}
	return Repeat(e, lo, hi), nil
}

// counts reads *, +, ? or {m,n}. A brace that begins no count is a plain character.
func (p *parser) counts() (lo, hi int, ok bool, err error) {
	switch {
	case p.take("*"):
		return 0, -1, true, nil
	case p.take("+"):
		return 1, -1, true, nil
	case p.take("?"):
		return 0, 1, true, nil
	case !p.more() || p.src[p.at] != '{':
		return 0, 0, false, nil
	}
	end := strings.IndexByte(p.src[p.at:], '}')
	if end < 0 {
		return 0, 0, false, nil
	}
	from, to, ranged := strings.Cut(p.src[p.at+1:p.at+end], ",")
	if !digits(from) || ranged && to != "" && !digits(to) {
		return 0, 0, false, nil
	}
	p.at += end + 1
	lo, hi = number(from), -1
	if !ranged {
		hi = lo
	} else if to != "" {
		hi = number(to)
	}
	return lo, hi, true, nil
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// number reads digits; too many of them give what every bound refuses.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return maxRepeat + 1
	}
	return n
}
