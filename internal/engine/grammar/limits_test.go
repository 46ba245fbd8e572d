package grammar

import (
	"fmt"
	"strings"
	"testing"

	"macaron/internal/errs"
)

// TestAmbiguityIsBounded: grammars that read a text in very many ways either keep up or
// are refused with a code; none hangs.
func TestAmbiguityIsBounded(t *testing.T) {
	v := vocabOf(t, newToy(letters("ab", 4)...))
	var wide strings.Builder
	for i := range 300 {
		fmt.Fprintf(&wide, "r%d ::= [ab] r%d [ab] | [ab] r%d | \"a\"\n", i, (i*7+1)%300, (i*11+3)%300)
	}
	for _, src := range []string{
		"root ::= root root | [ab] | \"\"",
		"root ::= (x y)*\nx ::= root?\ny ::= x | .",
		"root ::= a*\na ::= b* \nb ::= c*\nc ::= [ab]",
		wide.String() + "root ::= r0 r1 r2 r3",
	} {
		g, err := v.EBNF(src)
		if err != nil {
			t.Fatal(err)
		}
		m := g.Start()
		bits := make([]uint64, v.Words())
		for range 40 {
			if err = m.Mask(bits); err == nil {
				err = m.Accept(2)
			}
			if err != nil {
				break
			}
		}
		if err != nil && errs.CodeOf(err) != errs.TooLarge {
			t.Errorf("%.40q: %v", src, err)
		}
	}
}

// TestTablesStayBounded: a machine that is emptied again and again in the middle of
// walks finds the same masks.
func TestTablesStayBounded(t *testing.T) {
	v := defaultVocab(t)
	schema := []byte(`{"type":"array","items":{"type":"string","pattern":"^(ab|cd|[e-z]{3}|é)*$","maxLength":40}}`)
	free, err := v.JSONSchema(schema, SchemaOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tight, err := v.JSONSchema(schema, SchemaOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tight.walk.m.limit = 40 * tight.p.Classes
	a, b := free.Start(), tight.Start()
	for _, text := range []string{`[`, `"`, `ab`, `e`, `f`, `gé`, `"`, `,`, ` "c`} {
		x, y := allowed(t, a), allowed(t, b)
		if fmt.Sprint(x) != fmt.Sprint(y) {
			t.Fatalf("before %q: %d tokens, with a small table %d", text, len(x), len(y))
		}
		if a.AcceptBytes([]byte(text)) != nil || b.AcceptBytes([]byte(text)) != nil {
			t.Fatalf("%q is refused", text)
		}
	}
	if n := len(tight.walk.m.next); n > 200*tight.p.Classes {
		t.Errorf("the table has %d entries", n)
	}
}
