package template

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokKind uint8

const (
	tokEOF    tokKind = iota
	tokText           // literal text between tags
	tokOpen           // {{
	tokClose          // }}
	tokTag            // {%
	tokEndTag         // %}
	tokName
	tokString // text is the decoded value
	tokNumber
	tokOp
)

type tok struct {
	kind tokKind
	text string
	line int
}

// scanner splits a source into tokens with the environment's whitespace rules:
// the newline after a tag goes (trim_blocks), and so do the blanks between the
// start of a line and a tag (lstrip_blocks); "-" and "+" in a tag override both.
type scanner struct {
	src   string
	pos   int
	line  int
	start bool // the text to come starts a line
	strip bool // "-" at the end of the last tag: drop leading whitespace
	out   []tok
}

// scan gives the tokens of a source, the last being tokEOF.
func scan(src string) []tok {
	src = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(src)
	s := &scanner{src: strings.TrimSuffix(src, "\n"), line: 1, start: true}
	for s.pos < len(s.src) {
		at := s.nextTag()
		if at == len(s.src) {
			s.emitText(s.src[s.pos:at])
			s.advance(at)
			break
		}
		opener := s.src[at : at+2]
		sign := byte(0)
		if at+2 < len(s.src) && (s.src[at+2] == '-' || s.src[at+2] == '+') {
			sign = s.src[at+2]
		}
		s.emitText(s.before(s.src[s.pos:at], opener, sign))
		s.advance(at + 2)
		if sign != 0 {
			s.advance(s.pos + 1)
		}
		s.tag(opener)
	}
	return append(s.out, tok{kind: tokEOF, text: "end of the template", line: s.line})
}

// nextTag is the offset of the next tag, or the end.
func (s *scanner) nextTag() int {
	for i := s.pos; i+1 < len(s.src); i++ {
		if s.src[i] == '{' && (s.src[i+1] == '{' || s.src[i+1] == '%' || s.src[i+1] == '#') {
			return i
		}
	}
	return len(s.src)
}

func (s *scanner) advance(to int) {
	s.line += strings.Count(s.src[s.pos:to], "\n")
	s.pos = to
}

func (s *scanner) fail(format string, args ...any) {
	defer func() {
		f := recover().(failure)
		f.line = s.line
		panic(f)
	}()
	fail(format, args...)
}

// before is the text in front of a tag after its whitespace rules.
func (s *scanner) before(text, opener string, sign byte) string {
	if sign == '-' {
		return strings.TrimRightFunc(text, pySpace)
	}
	if sign == '+' || opener == "{{" {
		return text
	}
	line := strings.LastIndexByte(text, '\n') + 1
	if line == 0 && !s.start {
		return text
	}
	if strings.TrimLeftFunc(text[line:], pySpace) == "" {
		return text[:line]
	}
	return text
}

func (s *scanner) emitText(text string) {
	if s.strip {
		text = strings.TrimLeftFunc(text, pySpace)
	}
	s.strip = false
	if text != "" {
		s.out = append(s.out, tok{kind: tokText, text: text, line: s.line})
	}
}

// tag reads what follows an opener, through its closer.
func (s *scanner) tag(opener string) {
	switch opener {
	case "{#":
		end := strings.Index(s.src[s.pos:], "#}")
		if end < 0 {
			s.fail("a comment is not closed")
		}
		at := s.pos + end
		s.closed(s.src[at-1], at+2, true)
	case "{%":
		if name, at := s.word(s.pos); name == "raw" {
			s.raw(at)
			return
		}
		s.inside(tokTag, tokEndTag, "%}")
	default:
		s.inside(tokOpen, tokClose, "}}")
	}
}

// closed ends a tag at offset to, with the sign before its closer.
func (s *scanner) closed(sign byte, to int, trim bool) {
	s.advance(to)
	s.strip = sign == '-'
	s.start = false
	if trim && sign != '-' && sign != '+' && strings.HasPrefix(s.src[s.pos:], "\n") {
		s.advance(s.pos + 1)
		s.start = true
	}
}

// word is the name at or after an offset and where it ends.
func (s *scanner) word(at int) (string, int) {
	for at < len(s.src) && blank(s.src[at]) {
		at++
	}
	end := at
	for end < len(s.src) && isNameByte(s.src[end]) {
		end++
	}
	return s.src[at:end], end
}

// raw reads {% raw %}…{% endraw %}, whose content is text as it stands.
func (s *scanner) raw(at int) {
	end := strings.Index(s.src[at:], "%}")
	if end < 0 {
		s.fail("a raw tag is not closed")
	}
	s.closed(s.src[at+end-1], at+end+2, false)
	for at := s.pos; ; at++ {
		next := strings.Index(s.src[at:], "{%")
		if next < 0 {
			s.fail("a raw block is not closed")
		}
		at += next
		sign, from := byte(0), at+2
		if from < len(s.src) && (s.src[from] == '-' || s.src[from] == '+') {
			sign = s.src[from]
			from++
		}
		name, to := s.word(from)
		if end := strings.Index(s.src[to:], "%}"); name == "endraw" && end >= 0 {
			s.emitText(s.before(s.src[s.pos:at], "{%", sign))
			s.closed(s.src[to+end-1], to+end+2, true)
			return
		}
	}
}

// inside tokenises an expression or statement up to its closer, which counts only
// outside of brackets.
func (s *scanner) inside(open, end tokKind, closer string) {
	s.out = append(s.out, tok{kind: open, text: closer, line: s.line})
	depth := 0
	for {
		for s.pos < len(s.src) && blank(s.src[s.pos]) {
			s.advance(s.pos + 1)
		}
		rest := s.src[s.pos:]
		if rest == "" {
			s.fail("a tag is not closed with %q", closer)
		}
		if depth == 0 {
			for _, sign := range []string{"", "-", "+"} {
				if strings.HasPrefix(rest, sign+closer) {
					s.out = append(s.out, tok{kind: end, text: closer, line: s.line})
					s.closed((sign + " ")[0], s.pos+len(sign)+2, end == tokEndTag)
					return
				}
			}
		}
		if len(s.out) > maxTokens {
			s.fail("more than %d words and signs", maxTokens)
		}
		t, n := s.token(rest)
		switch t.text {
		case "(", "[", "{":
			if t.kind == tokOp {
				depth++
			}
		case ")", "]", "}":
			if t.kind == tokOp {
				depth = max(0, depth-1)
			}
		}
		t.line = s.line
		s.out = append(s.out, t)
		s.advance(s.pos + n)
	}
}

var operators = []string{"//", "**", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "<", ">", "=", "(", ")", "[", "]", "{", "}", ".", ",", ":", "|", ";"}

// token reads one token of an expression and its length in the source.
func (s *scanner) token(rest string) (tok, int) {
	c := rest[0]
	switch {
	case c == '\'' || c == '"':
		return s.quoted(rest)
	case c >= '0' && c <= '9':
		n := numberLen(rest)
		return tok{kind: tokNumber, text: strings.ReplaceAll(rest[:n], "_", "")}, n
	case isNameByte(c):
		n := 1
		for n < len(rest) && isNameByte(rest[n]) {
			n++
		}
		return tok{kind: tokName, text: rest[:n]}, n
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			return tok{kind: tokOp, text: op}, len(op)
		}
	}
	r, _ := utf8.DecodeRuneInString(rest)
	s.fail("unexpected character %q", r)
	return tok{}, 0
}

func numberLen(s string) int {
	digits := func(i int) int {
		for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '_') {
			i++
		}
		return i
	}
	n := digits(0)
	if n+1 < len(s) && s[n] == '.' && s[n+1] >= '0' && s[n+1] <= '9' {
		n = digits(n + 1)
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		at := n + 1
		if at < len(s) && (s[at] == '+' || s[at] == '-') {
			at++
		}
		if end := digits(at); end > at {
			n = end
		}
	}
	return n
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

// pySpace is Python's idea of whitespace.
func pySpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// blank is whitespace between the tokens of a tag.
func blank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
