package compile

import "macaron/internal/ui4a/tsx"

// How long an expression may be without a bracket. The compiler's parser tries some
// readings of TypeScript again and again, in time that grows with the third power of
// such chains: measured, 1,000 times "a<" take a second, 20,000 take minutes.
const (
	maxChain  = 400  // operators and operands one after another
	maxArrows = 24   // => one after another
	maxCommas = 1000 // commas outside of [ ] and ( )
)

// chain counts in one group.
type chain struct{ operators, arrows, commas int }

// chains refuses expressions that cost a parser too much.
func (c *card) chains() bool {
	counts := make([]chain, len(c.Groups))
	for i, t := range c.Tokens {
		n := &counts[t.Group]
		text := c.TextOf(i)
		switch {
		case c.Groups[t.Group].Kind == tsx.Children || c.Groups[t.Group].Kind == tsx.OpenTag:
			continue
		case text == ";":
			*n = chain{}
		case text == ",":
			n.operators, n.arrows = 0, 0
			if k := c.Groups[t.Group].Kind; k != tsx.Bracket && k != tsx.Paren {
				n.commas++
			}
		case text == "=>":
			n.arrows++
		case c.begins(i):
			n.operators, n.arrows = 0, 0
		default:
			n.operators++
		}
		if n.operators > maxChain || n.arrows > maxArrows || n.commas > maxCommas {
			c.fail(i, "too-complex", "the expression that ends here is too long", "divide it: name its parts with const, or put brackets around them")
			return false
		}
	}
	return true
}

// starters begin a statement, and do not nest without brackets.
var starters = map[string]bool{"const": true, "let": true, "var": true, "return": true, "function": true, "type": true, "interface": true, "export": true, "import": true,
	"switch": true, "try": true, "throw": true, "break": true, "continue": true}

// begins says whether a token on a new line begins a statement without a ; before it.
func (c *card) begins(i int) bool {
	t := c.Tokens[i]
	if i == 0 || !t.Newline || t.Kind != tsx.Word {
		return false
	}
	last := c.TextOf(i - 1)
	return starters[c.TextOf(i)] || last == "}" || last == "]" || c.Tokens[i-1].Kind != tsx.Punct && !inner[last] && !inner[c.TextOf(i)]
}

// inner are words that go on with an expression, or may stand many times before one.
var inner = map[string]bool{"if": true, "else": true, "for": true, "while": true, "do": true, "new": true, "typeof": true, "void": true, "delete": true, "await": true, "async": true,
	"in": true, "of": true, "instanceof": true, "as": true, "satisfies": true, "keyof": true, "infer": true, "extends": true, "is": true, "yield": true, "case": true, "with": true, "readonly": true, "unique": true, "namespace": true, "module": true, "declare": true, "abstract": true}
