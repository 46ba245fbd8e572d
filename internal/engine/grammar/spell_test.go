package grammar

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// spellings lists the canonical texts of a document, with the members of its objects in
// every order; at most limit.
func spellings(v any, limit int) []string {
	join := func(open, shut string, parts [][]string) []string {
		out := []string{open}
		for i, p := range parts {
			var next []string
			for _, s := range out {
				for _, t := range p {
					if i > 0 {
						t = "," + t
					}
					if next = append(next, s+t); len(next) >= limit {
						break
					}
				}
			}
			out = next
		}
		for i := range out {
			out[i] += shut
		}
		return out
	}
	switch v := v.(type) {
	case []any:
		var parts [][]string
		for _, e := range v {
			parts = append(parts, spellings(e, limit))
		}
		return join("[", "]", parts)
	case map[string]any:
		var out []string
		for _, names := range permutations(slices.Collect(keys(v)), limit) {
			var parts [][]string
			for _, n := range names {
				part := spellings(v[n], limit)
				for i := range part {
					part[i] = text(n) + ":" + part[i]
				}
				parts = append(parts, part)
			}
			out = append(out, join("{", "}", parts)...)
		}
		return out[:min(len(out), limit)]
	}
	return []string{text(v)}
}

func keys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func permutations(names []string, limit int) [][]string {
	if len(names) == 0 {
		return [][]string{nil}
	}
	var out [][]string
	for i := range names {
		rest := slices.Delete(slices.Clone(names), i, i+1)
		for _, p := range permutations(rest, limit) {
			if out = append(out, append([]string{names[i]}, p...)); len(out) >= limit {
				return out
			}
		}
	}
	return out
}

// text is a scalar as the canonical form writes it.
func text(v any) string {
	if n, ok := v.(json.Number); ok {
		if f, err := n.Float64(); err == nil && f == float64(int64(f)) && strings.ContainsAny(n.String(), ".eE") {
			return fmt.Sprint(int64(f))
		}
		return n.String()
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.Encode(v)
	return strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSpace(out.String()))
}

func decode(t testing.TB, raw []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// accepts tells whether the grammar takes a text, byte by byte, to its end.
func accepts(g *Grammar, text string) bool {
	m := g.Start()
	return m.AcceptBytes([]byte(text)) == nil && m.Accepting()
}

func acceptsAny(g *Grammar, texts []string) bool {
	return slices.ContainsFunc(texts, func(s string) bool { return accepts(g, s) })
}
