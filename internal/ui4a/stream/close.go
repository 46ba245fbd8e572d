package stream

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"macaron/internal/ui4a"
	"macaron/internal/ui4a/tsx"
)

// Close ends a half-written source where it can be drawn: open elements and brackets are
// closed, and what is only begun - a tag, an attribute, an expression, a statement - is
// left out. ok is false where nothing can be drawn yet.
func Close(source string) (closed string, ok bool) {
	source = wholeRunes(source)
	if len(source) > ui4a.MaxSource {
		return "", false
	}
	c := closer{Source: tsx.Scan(source, ui4a.MaxNesting)}
	if c.Deep >= 0 || c.Mismatch >= 0 || c.Subscript >= 0 {
		return "", false
	}
	m, ok := c.main()
	if !ok {
		return "", false
	}
	if m.done {
		return c.withoutHalf(m), true
	}
	cut, open, ok := c.safe(m)
	if !ok {
		return "", false
	}
	return c.ended(cut, open) + m.export(), true
}

// wholeRunes drops the bytes of a character that has not come whole.
func wholeRunes(s string) string {
	for i := 1; i <= utf8.UTFMax-1 && i <= len(s); i++ {
		if utf8.RuneStart(s[len(s)-i]) {
			if !utf8.FullRuneInString(s[len(s)-i:]) {
				return s[:len(s)-i]
			}
			break
		}
	}
	return s
}

// closer is a source on its way to being closed.
type closer struct{ *tsx.Source }

// safe finds the last place at which the source can be ended, from the innermost group
// outwards, and the groups that are open there.
func (c closer) safe(m component) (cut int, open []int, ok bool) {
	open = c.Open
	if c.atElementEnd() {
		return len(c.Text), open, c.isDrawn(m, len(c.Tokens)-1)
	}
	for len(open) > 1 {
		g := c.Groups[open[len(open)-1]]
		switch {
		case g.Kind == tsx.Children:
			return c.within(open), open, c.isDrawn(m, g.Open)
		case g.Kind == tsx.OpenTag, g.Kind == tsx.Container:
			open = open[:len(open)-1]
			if parent := c.Groups[open[len(open)-1]]; parent.Kind == tsx.Children {
				return c.Tokens[g.Open].Start, open, c.isDrawn(m, parent.Open)
			}
		case open[len(open)-1] == m.body:
			return c.afterReturn(m, open)
		case g.Kind == tsx.Bracket && c.isValue(g):
			if comma := c.lastComma(open[len(open)-1]); comma >= 0 {
				return c.Tokens[comma].Start, open, c.isDrawn(m, g.Open)
			}
			open = open[:len(open)-1]
		default:
			open = open[:len(open)-1]
		}
	}
	return 0, nil, false
}

// isValue says that a list is the whole value of an attribute: rows={[
func (c closer) isValue(g tsx.Group) bool {
	p := c.Groups[g.Parent]
	return p.Kind == tsx.Container && p.Open == g.Open-1 && c.Groups[p.Parent].Kind == tsx.OpenTag
}

// lastComma is the comma behind the last whole item of a list; -1 without one.
func (c closer) lastComma(group int) int {
	for i := len(c.Tokens) - 1; i > c.Groups[group].Open; i-- {
		if c.Tokens[i].Group == group && c.Is(i, ",") {
			return i
		}
	}
	return -1
}

// atElementEnd says that the last token ends an element outside of another: an operand
// is whole.
func (c closer) atElementEnd() bool {
	if c.End != tsx.Between || len(c.Tokens) == 0 {
		return false
	}
	t := c.Tokens[len(c.Tokens)-1]
	k := c.Groups[t.Group].Kind
	return t.Kind == tsx.Tag && k != tsx.Children && k != tsx.OpenTag && (c.opens(len(c.Tokens)-1) < 0)
}

// opens is the open group that a token opens, or -1.
func (c closer) opens(token int) int {
	for _, g := range c.Open {
		if c.Groups[g].Open == token {
			return g
		}
	}
	return -1
}

var halfEntity = regexp.MustCompile(`&[#\w]*$`)

// within is the end of what has come of an element's children.
func (c closer) within(open []int) int {
	last := len(c.Tokens) - 1
	if c.End == tsx.InClosing {
		return c.EndStart
	}
	if c.Tokens[last].Kind != tsx.Text || c.Tokens[last].Group != open[len(open)-1] {
		return c.Tokens[last].End
	}
	t := c.Tokens[last]
	return t.Start + len(halfEntity.ReplaceAllString(c.Text[t.Start:t.End], ""))
}

// isDrawn says whether a token belongs to what the card gives back, rather than to
// something that stands before it.
func (c closer) isDrawn(m component, token int) bool {
	if m.body < 0 {
		return token > m.first
	}
	r := c.lastReturn(m)
	return r >= 0 && r < token
}

// lastReturn is the last return of the card's own body that is no early one; -1.
func (c closer) lastReturn(m component) int {
	for i := len(c.Tokens) - 1; i > c.Groups[m.body].Open; i-- {
		if c.Tokens[i].Group == m.body && c.Is(i, "return") {
			if c.Is(i-1, ")") || c.Is(i-1, "else") {
				return -1 // if (…) return
			}
			return i
		}
	}
	return -1
}

// afterReturn ends the source behind the expression that the card gives back.
func (c closer) afterReturn(m component, open []int) (int, []int, bool) {
	r := c.lastReturn(m)
	if r < 0 {
		return 0, nil, false
	}
	end := -1
	for i := r + 1; i < len(c.Tokens) && !c.Is(i, ";") && !c.Is(i, "}"); i = c.Next(i) {
		if c.opens(i) >= 0 {
			return 0, nil, false
		}
		if i > r+1 && c.Tokens[i].Newline && c.Tokens[i].Group == m.body && c.Tokens[i].Kind == tsx.Word {
			break
		}
		end = c.Tokens[min(c.Next(i), len(c.Tokens))-1].End
	}
	if end < 0 || c.End != tsx.Between && c.End != tsx.InComment || !c.hasElement(r) {
		return 0, nil, false
	}
	return end, open, true
}

func (c closer) hasElement(from int) bool {
	for _, e := range c.Elements {
		if e.Start > from && e.End >= 0 {
			return true
		}
	}
	return false
}

var brackets = map[tsx.GroupKind]string{tsx.Paren: ")", tsx.Bracket: "]", tsx.Block: "}", tsx.Object: "}", tsx.Container: "}", tsx.Hole: "}`", tsx.OpenTag: " />"}

// ended cuts the source and closes what is open there, the innermost first.
func (c closer) ended(cut int, open []int) string {
	var b strings.Builder
	b.WriteString(c.Text[:cut])
	for i := len(open) - 1; i >= 0; i-- {
		g := c.Groups[open[i]]
		if g.Kind == tsx.Children {
			b.WriteString("</" + c.Elements[g.Element].Name + ">")
			continue
		}
		for range c.choices(open[i], cut) {
			b.WriteString(" : null")
		}
		b.WriteString(brackets[g.Kind])
	}
	b.WriteString("\n")
	return b.String()
}

// choices counts the ? of a group that await their :.
func (c closer) choices(group, cut int) int {
	n := 0
	for i, t := range c.Tokens {
		if t.Group != group || t.Start >= cut || t.Kind != tsx.Punct {
			continue
		}
		switch c.TextOf(i) {
		case "?":
			n++
		case ":":
			n = max(0, n-1)
		case ",", ";":
			n = 0
		}
	}
	return n
}
