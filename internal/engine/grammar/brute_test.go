package grammar

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// language is the texts of a language up to some length, and their beginnings.
type language struct{ texts, begins map[string]bool }

func newLanguage(texts []string) language {
	l := language{map[string]bool{}, map[string]bool{}}
	for _, s := range texts {
		l.texts[s] = true
		for i := range len(s) + 1 {
			l.begins[s[:i]] = true
		}
	}
	return l
}

// agree walks every path of tokens up to depth bytes and compares masks with the list.
func (l language) agree(t interface{ Fatalf(string, ...any) }, g *Grammar, depth int) {
	tok := g.v.tok.(toy)
	bits := make([]uint64, g.v.Words())
	var walk func(m *Matcher, text string)
	walk = func(m *Matcher, text string) {
		if m.Accepting() != l.texts[text] {
			t.Fatalf("%q: accepting is %v", text, m.Accepting())
		}
		if err := m.Mask(bits); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		mask := slices.Clone(bits)
		if has := mask[0]&1 != 0; has != l.texts[text] {
			t.Fatalf("%q: end allowed is %v", text, has)
		}
		for id := int32(1); int(id) < len(tok); id++ {
			has := mask[id>>6]>>(id&63)&1 != 0
			want := id > 1 && l.begins[text+tok[id]]
			if len(text)+len(tok[id]) > depth {
				continue
			}
			if has != want {
				t.Fatalf("behind %q token %q: allowed is %v", text, tok[id], has)
			}
			c := m.Clone()
			if err := c.Accept(id); (err == nil) != want {
				t.Fatalf("behind %q token %q: accept gives %v", text, tok[id], err)
			}
			if want {
				walk(c, text+tok[id])
			}
		}
	}
	walk(g.Start(), "")
}

// TestRegexMasksAreThoseOfAllTexts compares with package regexp over all short texts.
func TestRegexMasksAreThoseOfAllTexts(t *testing.T) {
	v := vocabOf(t, newToy(letters("abé", 3)...))
	for _, pattern := range []string{"", "a", "a*", "(a|b)*a", "a{2,3}b?", "[^a]+", "(ab|aé)*", "é(a|b){0,2}", "(a*)*b", "a+b+é+", "(|a)(|b)", "(?:a?){3}b", "^ab*$", "(^a|b)b*"} {
		re := regexp.MustCompile(`^(?:` + pattern + `)$`)
		var texts []string
		for _, s := range append(letters("abé", 7), "") {
			if re.MatchString(s) {
				texts = append(texts, s)
			}
		}
		g, err := v.Regex(pattern)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(pattern, func(t *testing.T) { newLanguage(texts).agree(t, g, 4) })
	}
}

// randomGrammar writes a grammar over x and y with rules that may be left-recursive,
// empty or ambiguous.
func randomGrammar(r *rand.Rand) (string, map[string][][]string) {
	names := []string{"root", "a", "b"}
	rules := map[string][][]string{}
	var src strings.Builder
	for _, name := range names {
		var alts []string
		for range 1 + r.IntN(3) {
			var seq []string
			for range r.IntN(4) {
				seq = append(seq, []string{`"x"`, `"y"`, `"x"`, "a", "b", "root"}[r.IntN(6)])
			}
			rules[name] = append(rules[name], seq)
			alts = append(alts, strings.Join(append(seq, `""`), " "))
		}
		fmt.Fprintf(&src, "%s ::= %s\n", name, strings.Join(alts, " | "))
	}
	return src.String(), rules
}

// derive lists all texts of up to n bytes by adding to every rule's set until nothing
// is new.
func derive(rules map[string][][]string, n int) map[string]map[string]bool {
	sets := map[string]map[string]bool{"root": {}, "a": {}, "b": {}}
	for grown := true; grown; {
		grown = false
		for name, alts := range rules {
			for _, seq := range alts {
				texts := map[string]bool{"": true}
				for _, sym := range seq {
					next := map[string]bool{}
					part := sets[sym]
					if sym[0] == '"' {
						part = map[string]bool{sym[1:2]: true}
					}
					for s := range texts {
						for p := range part {
							if len(s)+len(p) <= n {
								next[s+p] = true
							}
						}
					}
					texts = next
				}
				for s := range texts {
					if !sets[name][s] {
						sets[name][s], grown = true, true
					}
				}
			}
		}
	}
	return sets
}

// TestGrammarMasksAreThoseOfAllDerivations compares random grammars with the list of
// all they derive.
func TestGrammarMasksAreThoseOfAllDerivations(t *testing.T) {
	v := vocabOf(t, newToy(letters("xy", 3)...))
	rapid.Check(t, func(t *rapid.T) {
		src, rules := randomGrammar(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)))
		sets := derive(rules, 11)
		for _, set := range sets {
			if len(set) > 0 && !set[""] && !slices.ContainsFunc(letters("xy", 2), func(s string) bool { return set[s] }) {
				return // its texts could be longer than the list
			}
		}
		texts := sets["root"]
		g, err := v.EBNF(src)
		if err != nil {
			if len(texts) > 0 {
				t.Fatalf("%s%v", src, err)
			}
			return
		}
		if len(texts) == 0 {
			return // no text is short
		}
		var list []string
		for s := range texts {
			list = append(list, s)
		}
		defer func() {
			if t.Failed() {
				t.Log(src)
			}
		}()
		newLanguage(list).agree(t, g, 2)
	})
}
