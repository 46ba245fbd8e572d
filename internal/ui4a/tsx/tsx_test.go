package tsx

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const depth = 100

// spell gives the tokens of a source, elements' marks in quotes of their own.
func spell(text string) string {
	s := Scan(text, depth)
	var all []string
	for i, t := range s.Tokens {
		kind := map[Kind]string{Tag: "tag:", Name: "name:", Attr: "attr:", Value: "value:", Text: "text:", Regex: "re:", Template: "quasi:"}[t.Kind]
		all = append(all, kind+s.TextOf(i))
	}
	return strings.Join(all, " ")
}

func TestTokens(t *testing.T) {
	for text, want := range map[string]string{
		`a < b / c`:                       `a < b / c`,
		`x = /[/"]\/</g.test(y)`:          `x = re:/[/"]\/</g . test ( y )`,
		`n++ < m! < 2`:                    `n ++ < m ! < 2`,
		"`a${b}c${`d`}`":                  "quasi:`a ${ b } quasi:c ${ quasi:`d` } quasi:`",
		`1.5e-3 + 0xE-1 + 1..toFixed()`:   `1.5e-3 + 0xE - 1 + 1. . toFixed ( )`,
		`a?.b?.5:c ?? d`:                  `a ?. b ? .5 : c ?? d`,
		`() => <A.B c-d="e>" f {...g}/>`:  `( ) => tag:< name:A.B attr:c-d = value:"e>" attr:f { ... g } tag:/>`,
		`<>a {b} &amp;</>`:                `tag:< tag:> text:a  { b } text: &amp; tag:</>`,
		`<T,>(x: T) => x`:                 `< T , > ( x : T ) => x`,
		`useState<A | null>(<b/>)`:        `useState < A | null > ( tag:< name:b tag:/> )`,
		`<S<A<B>> c/>`:                    `tag:< name:S attr:c tag:/>`,
		`/* x */ a // y`:                  `a`,
		`x.return / 2`:                    `x . return / 2`,
		`return <p title='a "'>1 > 0</p>`: `return tag:< name:p attr:title = value:'a "' tag:> text:1 > 0 tag:</p>`,
		`größe = "ü"`:                     `größe = "ü"`,
	} {
		if got := spell(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestGroups(t *testing.T) {
	s := Scan("export default function A({ a }) { const o = { b: [1] }; return <p style={{ c: 1 }}>{o.b.map((x) => <i key={x} />)}</p>; }", depth)
	var kinds []GroupKind
	for _, g := range s.Groups {
		kinds = append(kinds, g.Kind)
		if g.Kind != Root && (g.Close < g.Open || s.Tokens[g.Open].Group != g.Parent || s.Tokens[g.Close].Group != g.Parent) {
			t.Errorf("group %+v", g)
		}
	}
	want := []GroupKind{Root, Paren, Object, Block, Object, Bracket, OpenTag, Container, Object, Children, Container, Paren, Paren, OpenTag, Container}
	if diff := cmp.Diff(want, kinds); diff != "" || len(s.Open) != 1 || s.Mismatch >= 0 {
		t.Errorf("open %v, mismatch %d\n%s", s.Open, s.Mismatch, diff)
	}
	if e := s.Elements[1]; e.Name != "i" || !e.Leaf || e.Parent != -1 || len(e.Attrs) != 1 || e.Attrs[0].Name != "key" {
		t.Errorf("%+v", e)
	}
	if e := s.Elements[0]; s.TextOf(e.End) != "</p>" || s.TextOf(e.TagEnd) != ">" || s.TextOf(s.Next(e.TagEnd)) != ";" {
		t.Errorf("%+v", e)
	}
}

func TestEnds(t *testing.T) {
	for text, want := range map[string]struct {
		end   Mode
		start int
		open  int
	}{
		`a = "b`:         {InString, 4, 1},
		"a = `b${c}d":    {InQuasi, 10, 1},
		"a = `b${c":      {Between, 9, 2},
		`a // b`:         {InComment, 2, 1},
		`a = /b`:         {InRegex, 4, 1},
		`<p>a</`:         {InClosing, 4, 2},
		`<p a="b`:        {InString, 5, 2},
		`<p>{[<i>x`:      {Between, 9, 5},
		"a = 'b\nc = 'd": {InString, 11, 1},
	} {
		s := Scan(text, depth)
		if s.End != want.end || s.EndStart != want.start || len(s.Open) != want.open {
			t.Errorf("%s: ends %d at %d with %d open", text, s.End, s.EndStart, len(s.Open))
		}
	}
}

func TestWhatIsWrong(t *testing.T) {
	for text, c := range map[string]struct{ mismatch, subscript string }{
		`f(a])`:               {"]", ""},
		`<a></b>`:             {"</b>", ""},
		`<A[k].icon />`:       {"", "["},
		`<p a={b[0]}>[c]</p>`: {"", ""},
	} {
		if s := Scan(text, depth); s.TextOf(s.Mismatch) != c.mismatch || s.TextOf(s.Subscript) != c.subscript {
			t.Errorf("%s: mismatch %q, subscript %q", text, s.TextOf(s.Mismatch), s.TextOf(s.Subscript))
		}
	}
	deep := strings.Repeat("(", depth+1)
	if s := Scan(deep, depth); s.Deep != depth {
		t.Errorf("too deep at %d", s.Deep)
	}
	if s := Scan(deep[1:], depth); s.Deep >= 0 {
		t.Errorf("too deep at %d", s.Deep)
	}
}

// Tokens follow each other, lie within the text, and skip white space and comments only.
func FuzzScan(f *testing.F) {
	f.Add("export default () => <p a={`x${1}`}>a</p> // b")
	f.Add("a = /[/]/g, `${`}")
	f.Fuzz(func(t *testing.T, text string) {
		s := Scan(text, 20)
		end := 0
		for i, k := range s.Tokens {
			if k.Start < end || k.End < k.Start || k.End > len(text) || s.Next(i) <= i && s.Next(i) != len(s.Tokens) {
				t.Fatalf("token %d is %+v, the one before ends at %d", i, k, end)
			}
			end = k.End
		}
		if len(s.Open) > 21 || s.EndStart < 0 || s.EndStart > len(text) {
			t.Fatalf("%d open, half token at %d", len(s.Open), s.EndStart)
		}
	})
}
