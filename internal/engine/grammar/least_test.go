package grammar

import (
	"math/rand/v2"
	"testing"
)

// The shortest text to the end is in the language and as long as is said, from every
// place that random walks come to, and no text of the language from there is shorter.
func TestTheShortestTextEndsTheAnswer(t *testing.T) {
	var bytes []string
	for b := range 0x80 {
		bytes = append(bytes, string([]byte{byte(b)}))
	}
	v := vocabOf(t, newToy(append(bytes, "ab", "aab", "()", "b;")...))
	for _, source := range []string{
		`root ::= "a"* "b" ";"`,
		`root ::= "(" root ")" | "x" | root "+" root`,
		`root ::= list?
list ::= item ("," item){2,4}
item ::= [a-c]{3} | "[" list "]"`,
		`root ::= ("ab" | "aab" | "aaab")+ "."`,
	} {
		g, err := v.EBNF(source)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(200) {
			r, m := rand.New(rand.NewPCG(seed, 1)), g.Start()
			for range r.IntN(20) {
				ids := allowed(t, m)
				if err := m.Accept(ids[r.IntN(len(ids))]); err != nil || m.ended {
					break
				}
			}
			if m.ended {
				continue
			}
			want, text := m.Rest(), m.Shortest()
			if len(text) != want || want > 0 == m.Accepting() {
				t.Fatalf("%s: %q is %d bytes, and %d are said", source, text, len(text), want)
			}
			if shorter(t, m, want) {
				t.Fatalf("%s: %d bytes are not the fewest", source, want)
			}
			if err := m.AcceptBytes(text); err != nil || !m.Accepting() {
				t.Fatalf("%s: %q does not end the answer: %v", source, text, err)
			}
		}
	}
}

// shorter looks for a text of fewer than n bytes, of at most three, by trying all.
func shorter(t *testing.T, m *Matcher, n int) bool {
	if m.Accepting() {
		return n > 0
	}
	if n <= 1 || n > 3 {
		return false
	}
	for _, id := range allowed(t, m) {
		c := m.Clone()
		if name := m.g.v.name(id); len(name) != 1 || c.Accept(id) != nil {
			continue
		}
		if c.Accepting() || shorter(t, c, n-1) {
			return true
		}
	}
	return false
}

// Tokens towards a text are those that it begins with.
func TestTokensTowardsAText(t *testing.T) {
	v := vocabOf(t, newToy("a", "b", "ab", "abc", "ac", "c"))
	for text, want := range map[string][]int32{"ab": {2, 4}, "abcd": {2, 4, 5}, "c": {7}, "x": nil, "": {0}} {
		mask := make([]uint64, v.Words())
		v.towards(mask, []byte(text))
		var sum uint64
		for _, id := range want {
			sum |= 1 << id
		}
		if mask[0] != sum {
			t.Errorf("%q: %b, not %b", text, mask[0], sum)
		}
	}
}
