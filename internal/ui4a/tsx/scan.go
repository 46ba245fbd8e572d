package tsx

import "strings"

// Scan reads a source, whole or half-written. More than depth open groups end it. It
// takes time in proportion to the text.
func Scan(text string, depth int) *Source {
	s := scanner{depth: depth, Source: &Source{Text: text, Mismatch: -1, Subscript: -1, Deep: -1}}
	s.Tokens = make([]Token, 0, len(text)/4)
	s.Groups = []Group{{Kind: Root, Open: -1, Close: -1, Parent: -1, Element: -1}}
	s.Open = []int{0}
	s.EndStart = len(text)
	if strings.HasPrefix(text, "\ufeff") {
		s.pos = len("\ufeff") // a byte order mark
	}
	for s.step() {
	}
	return s.Source
}

type scanner struct {
	*Source
	pos     int
	depth   int
	operand bool // the last token ended an operand: what follows is an operator
	newline bool // a line ended before the next token
}

func (s *scanner) group() *Group { return &s.Groups[s.Open[len(s.Open)-1]] }

// step reads one token; false at the end.
func (s *scanner) step() bool {
	if s.Deep >= 0 || s.End != Between {
		return false
	}
	if s.group().Kind == Children {
		return s.child()
	}
	if !s.space() || s.pos >= len(s.Text) {
		return false
	}
	if s.group().Kind == OpenTag {
		s.tag()
	} else {
		s.code()
	}
	return true
}

// space passes white space and comments; false within a comment that does not end.
func (s *scanner) space() bool {
	for s.pos < len(s.Text) {
		switch c := s.Text[s.pos]; {
		case c == '\n':
			s.newline = true
			s.pos++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			s.pos++
		case c == '/' && s.pos+1 < len(s.Text) && (s.Text[s.pos+1] == '/' || s.Text[s.pos+1] == '*'):
			if !s.comment() {
				return false
			}
		default:
			return true
		}
	}
	return true
}

func (s *scanner) comment() bool {
	start := s.pos
	end, skip := "\n", 0
	if s.Text[s.pos+1] == '*' {
		end, skip = "*/", 2
	}
	i := strings.Index(s.Text[start+2:], end)
	if i < 0 {
		s.pos = len(s.Text)
		s.stop(InComment, start)
		return false
	}
	s.newline = s.newline || strings.Contains(s.Text[start:start+2+i], "\n")
	s.pos = start + 2 + i + skip
	return true
}

// stop ends the source within a token that began at start.
func (s *scanner) stop(m Mode, start int) { s.End, s.EndStart, s.pos = m, start, len(s.Text) }

// emit adds a token that ends at end.
func (s *scanner) emit(k Kind, end int) int {
	s.Tokens = append(s.Tokens, Token{Kind: k, Start: s.pos, End: end, Newline: s.newline, Group: s.Open[len(s.Open)-1]})
	s.opened = append(s.opened, -1)
	s.newline, s.pos = false, end
	return len(s.Tokens) - 1
}

// push opens a group at a token.
func (s *scanner) push(k GroupKind, token, element int) {
	if len(s.Open) > s.depth {
		s.Deep = token
		return
	}
	s.Groups = append(s.Groups, Group{Kind: k, Open: token, Close: -1, Parent: s.Open[len(s.Open)-1], Element: element})
	s.Open = append(s.Open, len(s.Groups)-1)
	s.opened[token] = len(s.Groups) - 1
	s.operand = false
}

// pop closes the innermost group by the token that is read next.
func (s *scanner) pop() {
	s.group().Close = len(s.Tokens)
	s.Open = s.Open[:len(s.Open)-1]
}

// mismatch keeps the first token that closes what is not open.
func (s *scanner) mismatch(token int) {
	if s.Mismatch < 0 {
		s.Mismatch = token
	}
}
