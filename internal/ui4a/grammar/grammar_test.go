package grammar

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"macaron/internal/engine/grammar"
	"macaron/internal/ui4a"
	"macaron/internal/ui4a/compile"
)

var sentences = flag.Int("sentences", 150, "random cards of the grammar that are compiled")

// letters is a vocabulary of all bytes, and of a token that ends an answer.
type letters struct{}

func (letters) Vocab() int                { return 257 }
func (letters) Piece(id int32) []byte     { return []byte{byte(id)} }
func (letters) IsControl(id int32) bool   { return id == 256 }
func (letters) EOG() []int32              { return []int32{256} }
func (letters) ID(s string) (int32, bool) { return 0, false }

func language(t testing.TB) *grammar.Grammar {
	t.Helper()
	v, err := grammar.NewVocab(letters{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := v.EBNF(Source())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Every card that can be written within the grammar compiles: no error, no fatal one.
func TestEverySentenceCompiles(t *testing.T) {
	g := language(t)
	told, shapes := map[string]int{}, map[string]int{}
	for seed := range *sentences {
		text := sentence(t, g, rand.New(rand.NewPCG(uint64(seed), 8)), ui4a.Fence+"\n")
		blocks := ui4a.SplitFences(text)
		if len(blocks) != 1 || !blocks[0].Card || blocks[0].Open || blocks[0].Slip {
			t.Fatalf("it is not one whole card: %q", text)
		}
		result, found := compile.Compile(blocks[0].Text, compile.Options{})
		if result.JS == "" || ui4a.Failed(found) {
			t.Fatalf("sentence %d: %v\n%s", seed, found, blocks[0].Text)
		}
		for _, d := range found {
			told[d.Code]++
		}
		shapes[strings.SplitN(blocks[0].Text[strings.Index(blocks[0].Text, "View() {\n"):], "\n", 3)[1][:min(12, 8)]]++
	}
	t.Logf("%d cards; warnings: %v; first statements: %v", *sentences, told, shapes)
}

// sentence is a random text of the grammar that goes on from a beginning. One byte in
// three is the next of the shortest way to the end, so that it comes to one.
func sentence(t testing.TB, g *grammar.Grammar, r *rand.Rand, begin string) string {
	t.Helper()
	m := g.Start()
	if err := m.AcceptBytes([]byte(begin)); err != nil {
		t.Fatal(err)
	}
	out, mask := []byte(begin), make([]uint64, g.Vocab().Words())
	for !m.Done() && !(m.Accepting() && r.IntN(4) == 0) {
		b := next(t, m, mask, r)
		if err := m.AcceptBytes([]byte{b}); err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return string(out)
}

func next(t testing.TB, m *grammar.Matcher, mask []uint64, r *rand.Rand) byte {
	t.Helper()
	if err := m.Mask(mask); err != nil {
		t.Fatal(err)
	}
	var can []byte
	for b := range 256 {
		if mask[b/64]>>(b%64)&1 != 0 {
			can = append(can, byte(b))
		}
	}
	if len(can) > 40 && r.IntN(4) == 0 { // within a text, where most bytes go on
		return m.Shortest()[0]
	}
	return can[r.IntN(len(can))]
}

// What no card may hold is in no sentence, however it is spelled.
func TestWhatTheCompilerRefusesIsOutside(t *testing.T) {
	g := language(t)
	begin := ui4a.Fence + "\n" + "import { Card, Stat } from \"$ui4a/ui\";\n\nexport default function View() {\n  return (\n    <Card title=\""
	for text, fits := range map[string]bool{
		"Plan": true, "R&D: 1/2": true, "ana@example.org": true, "prefer": true, "Preconn": true, "«π»": true,
		"//host": false, "see http://x": false, "@Import x": false, "PreConnect": false, "ppreconnect": false, "dns-prefetch": false, "moduleprefetch": false, "a\\n": false, "`": false, "a\nb": false,
	} {
		m := g.Start()
		if err := m.AcceptBytes([]byte(begin)); err != nil {
			t.Fatal(err)
		}
		if got := m.AcceptBytes([]byte(text+`"`)) == nil; got != fits {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Prose is free but for fences in which a card could stand outside of the grammar.
func TestProse(t *testing.T) {
	g := language(t)
	card := sentence(t, g, rand.New(rand.NewPCG(1, 1)), ui4a.Fence+"\n")
	for text, fits := range map[string]bool{
		"":                 true,
		"Paris.\n\n- a\n":  true,
		"use `x` or ``y``": true,
		"so:\n```go\nfmt.Println(`x`)\n```\nthat": true,
		"here it is\n" + card:                     true,
		card:                                      true,
		"```go\nx\n```\n" + card:                  true,
		card + "\nmore":                           false,
		"a " + card:                               false,
		"```tsx\nimport { Card } from \"$ui4a/ui\"": false,
		"```go\n" + card:               false,
		"````ui4a/tsx\nexport default": false,
		"  ```ui4a/tsx":                false,
	} {
		m := g.Start()
		if got := m.AcceptBytes([]byte(text)) == nil && m.Accepting(); got != fits {
			t.Errorf("%q: %v", text, got)
		}
		if cards := count(text); fits && cards != strings.Count(text, ui4a.Fence) {
			t.Errorf("%q has %d cards", text, cards)
		}
	}
}

func count(text string) (n int) {
	for _, b := range ui4a.SplitFences(text) {
		if b.Card {
			n++
		}
	}
	return n
}

// From everywhere in a card the end is near: no shortest text is longer than what a small
// part of an answer's budget holds.
func TestTheEndIsNear(t *testing.T) {
	g := language(t)
	most := 0
	for seed := range 40 {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		text := sentence(t, g, r, ui4a.Fence+"\n")
		m := g.Start()
		for i := range len(text) {
			if err := m.AcceptBytes([]byte{text[i]}); err != nil {
				t.Fatal(err)
			}
			if i > len(ui4a.Fence)+200 {
				most = max(most, m.Rest())
			}
		}
	}
	if most > 600 {
		t.Errorf("%d bytes are missing at one place", most)
	}
	t.Log(fmt.Sprintf("at most %d bytes", most))
}
