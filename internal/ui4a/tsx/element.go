package tsx

import "strings"

// element says whether the < at this place begins an element: not the < of a generic
// arrow function, <T,>(x) or <T extends U>(x).
func (s *scanner) element() bool {
	rest := s.Text[s.pos+1:]
	if rest == "" {
		return true
	}
	if rest[0] != '>' && !isWord(rest[0]) {
		return false
	}
	i := 0
	for i < len(rest) && (isWord(rest[i]) || isDigit(rest[i])) {
		i++
	}
	after := strings.TrimLeft(rest[i:], " \t\r\n")
	return i == 0 || !strings.HasPrefix(after, ",") && !strings.HasPrefix(after, "extends ")
}

// begin reads the < of an element and its name.
func (s *scanner) begin() {
	parent := -1
	if g := s.group(); g.Kind == Children {
		parent = g.Element
	}
	n := len(s.Elements)
	s.Elements = append(s.Elements, Element{Start: len(s.Tokens), TagEnd: -1, End: -1, Parent: parent})
	s.push(OpenTag, s.emit(Tag, s.pos+1), n)
	if s.Deep >= 0 || !s.space() {
		return
	}
	if end := s.nameEnd(); end > s.pos {
		s.Elements[n].Name = s.Text[s.pos:end]
		s.emit(Name, end)
	}
	s.typeArguments()
}

// nameEnd is where a name of an element or attribute ends.
func (s *scanner) nameEnd() int {
	end := s.pos
	for end < len(s.Text) && (isWord(s.Text[end]) || end > s.pos && (isDigit(s.Text[end]) || strings.IndexByte("-.:", s.Text[end]) >= 0)) {
		end++
	}
	return end
}

// typeArguments passes those of <Select<string> …>; they hold no strings.
func (s *scanner) typeArguments() {
	if s.pos >= len(s.Text) || s.Text[s.pos] != '<' {
		return
	}
	depth := 0
	for i := s.pos; i < len(s.Text); i++ {
		switch s.Text[i] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				s.pos = i + 1
				return
			}
		}
	}
	s.pos = len(s.Text)
}

// tag reads a token of an opening tag.
func (s *scanner) tag() {
	n := s.group().Element
	switch c := s.Text[s.pos]; {
	case isWord(c):
		at := s.emit(Attr, s.nameEnd())
		s.Elements[n].Attrs = append(s.Elements[n].Attrs, Attribute{Name: s.TextOf(at), At: at, Value: -1})
	case c == '=':
		s.emit(Punct, s.pos+1)
	case c == '"' || c == '\'':
		s.value(n, c)
	case c == '{':
		s.container(n)
	case c == '/' && strings.HasPrefix(s.Text[s.pos:], "/>"):
		s.endTag(n, 2)
	case c == '>':
		s.endTag(n, 1)
	case c == '<':
		s.begin() // an element as an attribute's value
	default:
		if at := s.emit(Punct, s.pos+1); c == '[' && s.Subscript < 0 {
			s.Subscript = at
		}
	}
}

// value reads an attribute's string, which has no escapes and may have several lines.
func (s *scanner) value(n int, quote byte) {
	i := strings.IndexByte(s.Text[s.pos+1:], quote)
	if i < 0 {
		s.stop(InString, s.pos)
		return
	}
	s.assign(n, s.emit(Value, s.pos+i+2))
}

// assign gives the last attribute its value.
func (s *scanner) assign(n, token int) bool {
	attrs := s.Elements[n].Attrs
	if len(attrs) == 0 || attrs[len(attrs)-1].Value >= 0 || !s.Is(token-1, "=") {
		return false
	}
	attrs[len(attrs)-1].Value = token
	return true
}

// container reads the { of an attribute's value or of a spread.
func (s *scanner) container(n int) {
	at := s.emit(Punct, s.pos+1)
	if !s.assign(n, at) {
		s.Elements[n].Attrs = append(s.Elements[n].Attrs, Attribute{At: at, Value: at, Spread: true})
	}
	s.push(Container, at, -1)
}

// endTag reads > or />.
func (s *scanner) endTag(n, size int) {
	s.pop()
	at := s.emit(Tag, s.pos+size)
	s.Elements[n].TagEnd = at
	s.operand = true
	if size == 2 {
		s.Elements[n].Leaf, s.Elements[n].End = true, at
		return
	}
	s.push(Children, at, n)
}

// child reads text, a container, an element or a closing tag; false at the end.
func (s *scanner) child() bool {
	if s.pos >= len(s.Text) {
		return false
	}
	switch s.Text[s.pos] {
	case '{':
		s.push(Container, s.emit(Punct, s.pos+1), -1)
	case '<':
		if strings.HasPrefix(s.Text[s.pos:], "</") {
			return s.end()
		}
		s.begin()
	default:
		i := strings.IndexAny(s.Text[s.pos:], "{<")
		if i < 0 {
			i = len(s.Text) - s.pos
		}
		s.emit(Text, s.pos+i)
	}
	return true
}

// end reads a closing tag.
func (s *scanner) end() bool {
	i := strings.IndexByte(s.Text[s.pos:], '>')
	if i < 0 {
		s.stop(InClosing, s.pos) // the element stays open
		return false
	}
	n := s.group().Element
	name := strings.TrimSpace(s.Text[s.pos+2 : s.pos+i])
	s.pop()
	at := s.emit(Tag, s.pos+i+1)
	s.Elements[n].End = at
	if name != s.Elements[n].Name {
		s.mismatch(at)
	}
	s.operand = true
	return true
}
