package grammar

import (
	"fmt"
	"strings"
	"testing"

	"macaron/internal/errs"
)

// nest wraps a text n times.
func nest(open, inner, shut string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(shut, n)
}

// doubling is definitions that each use the one before twice.
func doubling(n int, one string) string {
	var defs []string
	for i := range n {
		defs = append(defs, fmt.Sprintf(`"d%d":`+one, i+1, i, i))
	}
	return fmt.Sprintf(`{"$ref":"#/$defs/d%d","$defs":{"d0":{"type":"integer"},%s}}`, n, strings.Join(defs, ","))
}

var bombs = map[string]string{
	"anyOf within anyOf":     doubling(30, `{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`),
	"allOf within allOf":     doubling(30, `{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`),
	"oneOf of many":          `{"oneOf":[` + strings.Repeat(`{"type":"object","required":["a"]},`, 200) + `{}]}`,
	"counts within counts":   nest(`{"type":"array","minItems":50000,"items":`, `{"type":"string","minLength":60000}`, `}`, 20),
	"a pattern of counts":    `{"type":"string","pattern":"((a{1000}b?){1000}c?){1000}"}`,
	"a pattern that doubles": `{"type":"string","pattern":"a[ab]{60}$"}`,
	"patterns together":      `{"allOf":[` + strings.TrimSuffix(strings.Repeat(`{"pattern":"(a|b)*a(a|b){9}"},{"pattern":"x.{12}$"},`, 6), ",") + `]}`,
	"lengths and a pattern":  `{"type":"string","pattern":"^(ab|cd|ef)+$","maxLength":60000}`,
	"many patternProperties": `{"patternProperties":{` + func() (s string) {
		for i := range 40 {
			s += fmt.Sprintf(`"a.{%d}b":{"type":"integer"},`, i)
		}
		return s[:len(s)-1]
	}() + `}}`,
	"a long name list": `{"properties":{` + func() (s string) {
		for i := range 20000 {
			s += fmt.Sprintf(`"name%d":{},`, i)
		}
		return s[:len(s)-1]
	}() + `}}`,
	"deep nesting":           nest(`{"items":`, `{}`, `}`, 5000),
	"a ring of references":   `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
	"a large number":         `{"type":"number","minimum":1e999999}`,
	"a long number":          `{"type":"integer","minimum":` + strings.Repeat("9", 990) + `,"maximum":` + strings.Repeat("9", 995) + `}`,
	"a large modulus":        `{"multipleOf":19999.0001}`,
	"many multiples":         `{"allOf":[{"multipleOf":19997},{"multipleOf":19993},{"multipleOf":19991}]}`,
	"properties without end": `{"minProperties":1000000,"maxProperties":2000000,"properties":{"a":{}},"additionalProperties":false}`,
	"optional members by count": `{"maxProperties":3000,"properties":{` + func() (s string) {
		for i := range 3000 {
			s += fmt.Sprintf(`"n%d":{},`, i)
		}
		return s[:len(s)-1]
	}() + `}}`,
	"unicode classes": `{"type":"string","pattern":"^(\\p{L}\\p{N}|\\P{Lu}\\w){300}$","maxLength":9000}`,
}

// TestBombs: schemas that would take long are refused by their size or compiled. That
// compiling is bounded shows in the work it does, not in the clock: every path spends
// from a budget.
func TestBombs(t *testing.T) {
	v := vocabOf(t, newToy("a"))
	for name, schema := range bombs {
		g, err := v.JSONSchema([]byte(schema), SchemaOptions{})
		switch c := errs.CodeOf(err); {
		case err == nil && g.p.Nodes() > 1<<18:
			t.Errorf("%s: %d nodes", name, g.p.Nodes())
		case err != nil && c != errs.TooLarge && c != errs.Unsupported && c != errs.InvalidRequest:
			t.Errorf("%s: %v", name, err)
		}
	}
}

// BenchmarkBombs shows how long each takes.
func BenchmarkBombs(b *testing.B) {
	v := vocabOf(b, newToy("a"))
	for name, schema := range bombs {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				v.JSONSchema([]byte(schema), SchemaOptions{})
			}
		})
	}
}

func FuzzSchema(f *testing.F) {
	for _, x := range examples(f) {
		f.Add(x.schema)
	}
	v := vocabOf(f, newToy(letters(`a"{}[]:,0`, 2)...))
	f.Fuzz(func(t *testing.T, schema string) {
		g, err := v.JSONSchema([]byte(schema), SchemaOptions{})
		usable(t, g, err)
	})
}

func FuzzRegex(f *testing.F) {
	for _, s := range []string{"a*(b|c)+[^x-z]{2,3}$", `\p{L}\d(?i:x)`, "(((", `[\w-]\u{1F600}`, "(?P<n>a)|^b", "a{65536}{9}", `[^]`, `\cA\x00`} {
		f.Add(s)
	}
	v := vocabOf(f, newToy(letters("ab0", 2)...))
	f.Fuzz(func(t *testing.T, pattern string) {
		g, err := v.Regex(pattern)
		usable(t, g, err)
	})
}

func FuzzEBNF(f *testing.F) {
	for _, s := range []string{"root ::= \"a\" | root \"b\" [0-9]{2,}", "root ::= (x y)* # c\nx ::= root?\ny ::= x | .", "root ::= <[1]> \"\\u0041\"", "a ::= b\nroot ::= a", "root ::= [^\\]]+"} {
		f.Add(s)
	}
	v := vocabOf(f, newToy(letters("ab0", 2)...))
	f.Fuzz(func(t *testing.T, src string) {
		g, err := v.EBNF(src)
		usable(t, g, err)
	})
}

// usable checks that an error is coded, and that a walk through the grammar finds masks
// whose tokens are accepted and no others.
func usable(t *testing.T, g *Grammar, err error) {
	if err != nil {
		if errs.CodeOf(err) == errs.Internal {
			t.Fatal(err)
		}
		return
	}
	m := g.Start()
	bits := make([]uint64, g.v.Words())
	for range 6 {
		if m.Mask(bits) != nil {
			return
		}
		next := m
		for id := range int32(g.v.Size()) {
			c := m.Clone()
			if got, want := c.Accept(id) == nil, bits[id>>6]>>(id&63)&1 != 0; got != want {
				t.Fatalf("token %d: mask %v, accept %v", id, want, got)
			} else if got && id > 1 {
				next = c
			}
		}
		if m = next; m.Done() {
			return
		}
	}
}
