package tsx

import (
	"strings"
	"unicode/utf8"
)

// code reads a token of JavaScript.
func (s *scanner) code() {
	c := s.Text[s.pos]
	switch {
	case isWord(c):
		s.word()
	case c >= '0' && c <= '9', c == '.' && s.pos+1 < len(s.Text) && isDigit(s.Text[s.pos+1]):
		s.emit(Number, s.number())
		s.operand = true
	case c == '"' || c == '\'':
		s.string(c)
	case c == '`':
		s.quasi(s.pos, s.pos+1)
	case c == '/' && !s.operand:
		s.regex()
	case c == '<' && !s.operand && s.element():
		s.begin()
	default:
		s.punct()
	}
}

// beforeOperand are the words behind which an operand stands.
var beforeOperand = map[string]bool{"return": true, "typeof": true, "case": true, "do": true, "else": true, "in": true, "of": true, "void": true, "delete": true,
	"instanceof": true, "new": true, "throw": true, "await": true, "yield": true, "default": true, "extends": true, "as": true, "satisfies": true}

func (s *scanner) word() {
	end := s.pos
	for end < len(s.Text) && (isWord(s.Text[end]) || isDigit(s.Text[end])) {
		end++
	}
	property := len(s.Tokens) > 0 && (s.Is(len(s.Tokens)-1, ".") || s.Is(len(s.Tokens)-1, "?."))
	text := s.Text[s.pos:end]
	s.emit(Word, end)
	s.operand = property || !beforeOperand[text]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isWord takes what may begin an identifier; every character beyond ASCII does.
func isWord(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || c == '\\' || c >= utf8.RuneSelf
}

// number is where a number ends, of any notation; a second point does not belong to it.
func (s *scanner) number() int {
	hex := strings.HasPrefix(s.Text[s.pos:], "0x") || strings.HasPrefix(s.Text[s.pos:], "0X")
	point := false
	for end := s.pos; end < len(s.Text); end++ {
		switch c := s.Text[end]; {
		case isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_':
		case c == '.' && !point:
			point = true
		case (c == '+' || c == '-') && !hex && s.Text[end-1]|0x20 == 'e':
		default:
			return end
		}
	}
	return len(s.Text)
}

// string reads up to the quote; a string that a line ends is left to the compiler.
func (s *scanner) string(quote byte) {
	for i := s.pos + 1; i < len(s.Text); i++ {
		switch s.Text[i] {
		case '\\':
			i++
		case quote, '\n':
			s.emit(String, i+1)
			s.operand = true
			return
		}
	}
	s.stop(InString, s.pos)
}

// quasi reads the text of a template from i on; start is where the token begins.
func (s *scanner) quasi(start, i int) {
	for ; i < len(s.Text); i++ {
		switch s.Text[i] {
		case '\\':
			i++
		case '`':
			s.emit(Template, i+1)
			s.operand = true
			return
		case '$':
			if i+1 < len(s.Text) && s.Text[i+1] == '{' {
				if i > start {
					s.emit(Template, i)
				}
				s.push(Hole, s.emit(Punct, i+2), -1)
				return
			}
		}
	}
	s.stop(InQuasi, start)
}

func (s *scanner) regex() {
	class := false
	for i := s.pos + 1; i < len(s.Text); i++ {
		switch c := s.Text[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '\n':
			s.punct() // not one after all
			return
		case c == '/' && !class:
			for i++; i < len(s.Text) && isWord(s.Text[i]); i++ {
			}
			s.emit(Regex, i)
			s.operand = true
			return
		}
	}
	s.stop(InRegex, s.pos)
}

// operators are the spellings of more than one character, the longest first.
var operators = []string{">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "**"}

func (s *scanner) operator() string {
	rest := s.Text[s.pos:]
	for _, op := range operators {
		if strings.HasPrefix(rest, op) && (op != "?." || len(rest) < 3 || !isDigit(rest[2])) {
			return op
		}
	}
	return rest[:1]
}

func (s *scanner) punct() {
	op := s.operator()
	switch op {
	case "(":
		s.push(Paren, s.emit(Punct, s.pos+1), -1)
	case "[":
		s.push(Bracket, s.emit(Punct, s.pos+1), -1)
	case "{":
		kind := s.brace()
		s.push(kind, s.emit(Punct, s.pos+1), -1)
	case ")", "]", "}":
		s.close(op)
	case "++", "--", "!": // behind an operand they change nothing
		s.emit(Punct, s.pos+len(op))
	default:
		s.emit(Punct, s.pos+len(op))
		s.operand = false
	}
}

// brace says what a { opens.
func (s *scanner) brace() GroupKind {
	last := len(s.Tokens) - 1
	if last < 0 || s.operand {
		return Block // behind ), a name, else
	}
	switch s.TextOf(last) {
	case "(", "[", ",", "=", ":", "?", "return", "&&", "||", "??", "...", "default", "${", "in", "of", "as", "satisfies", "+", "==", "===", "!==", "!=", "|", "&", "<":
		return Object
	case "{":
		if s.opened[last] >= 0 && s.Groups[s.opened[last]].Kind == Container {
			return Object // style={{
		}
	}
	return Block
}

var closers = map[string][]GroupKind{")": {Paren}, "]": {Bracket}, "}": {Block, Object, Hole, Container}}

// close reads a closing bracket.
func (s *scanner) close(op string) {
	g := s.group()
	for _, k := range closers[op] {
		if g.Kind == k {
			s.pop()
			s.emit(Punct, s.pos+1)
			s.operand = true
			if k == Hole {
				s.quasi(s.pos, s.pos)
			}
			return
		}
	}
	s.mismatch(s.emit(Punct, s.pos+1))
	s.operand = true
}
