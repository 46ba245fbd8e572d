// Package tsx divides TSX into tokens, groups and JSX elements with their positions. It
// knows no grammar beyond that: it takes half-written sources, says what is open at
// their end, and leaves it to a compiler to say what is wrong with them. The rules of
// cards and the closer of half-written cards both read what it finds.
//
// Where TSX is ambiguous without types, it decides as cards are written: < is an element
// where an operand may stand, and / a regular expression there.
package tsx

// Kind says what a token is.
type Kind uint8

// The kinds of tokens.
const (
	Word     Kind = iota // identifiers and keywords
	Number               // of any notation
	String               // between ' or "
	Template             // a piece of a template without its ${ and }; its ` belongs to it
	Regex                // a regular expression with its flags
	Punct                // operators and brackets, each of its longest spelling
	Text                 // JSX text
	Tag                  // < </ > /> of elements
	Name                 // the name of an element, with its dots; nothing for a fragment
	Attr                 // the name of an attribute
	Value                // an attribute's string, with its quotes
)

// Token is bytes Start to End of the source.
type Token struct {
	Kind       Kind
	Start, End int
	Newline    bool // a line ends between the token before and this one
	Group      int  // the group in which it stands; brackets stand outside of what they enclose
}

// GroupKind says what holds a group together.
type GroupKind uint8

// The kinds of groups.
const (
	Root      GroupKind = iota
	Paren               // ( )
	Bracket             // [ ]
	Block               // { } of statements, classes, types and imports
	Object              // { } where an operand stands
	Hole                // ${ } of a template
	OpenTag             // < to > of an element
	Children            // > of an opening tag to </ of the closing one
	Container           // { } among children, or as an attribute's value
)

// Group is what stands between two brackets, or within a tag or an element.
type Group struct {
	Kind    GroupKind
	Open    int // the token that opens it; -1 for Root
	Close   int // the token that closes it; -1 while it is open
	Parent  int
	Element int // of OpenTag and Children
}

// Element is one JSX element, or a fragment.
type Element struct {
	Name   string // "" of a fragment
	Start  int    // token of <
	TagEnd int    // token of > or />; -1 while the tag is open
	End    int    // the last token; -1 while it is open
	Leaf   bool   // closed by />
	Parent int    // the element among whose children it stands directly; -1
	Attrs  []Attribute
}

// Attribute is one attribute, or a spread.
type Attribute struct {
	Name   string // "" of a spread
	At     int    // the token of its name, or the { of a spread
	Value  int    // token of the string, or the { of an expression; -1 without one
	Spread bool
}

// Mode says within what a source ends.
type Mode uint8

// The modes in which a source can end.
const (
	Between   Mode = iota // two tokens, or just behind one
	InComment             // a comment
	InString              // a string, of JavaScript or of an attribute
	InQuasi               // the text of a template
	InRegex               // a regular expression
	InClosing             // a closing tag
)

// Source is what was found.
type Source struct {
	Text     string
	Tokens   []Token
	Groups   []Group // Groups[0] is Root
	Elements []Element
	Open     []int // indices of the groups that are open at the end, Root first
	End      Mode
	EndStart int // where the half token at the end begins; len(Text) between tokens

	Mismatch  int // a bracket or closing tag that closes something else; -1
	Subscript int // a name of an element that is followed by [; -1
	Deep      int // a token at which more groups are open than was allowed; -1, and nothing follows it

	opened []int // by token: the group that it opens, or -1
}

// Is says whether a token is this word or operator.
func (s *Source) Is(i int, text string) bool {
	return i >= 0 && i < len(s.Tokens) && s.Tokens[i].Kind != Text && s.Tokens[i].Kind != String && s.TextOf(i) == text
}

// TextOf is the text of a token; nothing outside of the source.
func (s *Source) TextOf(i int) string {
	if i < 0 || i >= len(s.Tokens) {
		return ""
	}
	return s.Text[s.Tokens[i].Start:s.Tokens[i].End]
}

// Next gives the token behind a token and, if that opens a group, behind the group;
// len(Tokens) where the source ends.
func (s *Source) Next(i int) int {
	if i >= len(s.Tokens) {
		return len(s.Tokens)
	}
	if g := s.opened[i]; g >= 0 {
		if s.Groups[g].Close < 0 {
			return len(s.Tokens)
		}
		return s.Groups[g].Close + 1
	}
	return i + 1
}
