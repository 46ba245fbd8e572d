// Package filter is the labelled set that the data filter's detectors are measured on: texts
// in eleven languages with what is personal or secret in them marked, and what only looks
// like it not marked. One half was written before the detectors and never tuned on.
//
// The makers here know how numbers are given out (numbering plans, check digits, prefixes);
// they share no pattern with the detectors.
package filter

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strings"
)

//go:embed development.txt
var development string

//go:embed heldout.txt
var heldOut string

// Span is a place in a text, in bytes, and what stands there.
type Span struct {
	From, To int
	Type     string // email, phone, card, iban, ip, secret
}

// Text is a labelled text. Cluster is its template: copies of one are not independent.
type Text struct {
	Lang, Text string
	Spans      []Span
	Cluster    string
}

// Development gives the texts that detectors were tuned on, HeldOut the others.
func Development(copies int) ([]Text, error) { return expand("d", development, copies, 11) }

// HeldOut gives the texts that no detector was tuned on.
func HeldOut(copies int) ([]Text, error) { return expand("h", heldOut, copies, 77) }

// expand makes the texts of a file: so many copies of a line with makers, one of the others.
func expand(name, file string, copies int, seed uint64) ([]Text, error) {
	var out []Text
	for i, line := range strings.Split(file, "\n") {
		lang, text, ok := strings.Cut(line, "\t")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		n := 1
		if strings.Contains(text, "{") {
			n = copies
		}
		for c := range n {
			m := maker{rand.New(rand.NewPCG(seed, uint64(i*1000+c))), lang}
			t, err := m.text(strings.ReplaceAll(text, `\n`, "\n"))
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			t.Lang, t.Cluster = lang, fmt.Sprint(name, i+1)
			out = append(out, t)
		}
	}
	return out, nil
}

// text fills a template and notes where what stands.
func (m maker) text(template string) (t Text, err error) {
	var b strings.Builder
	for template != "" {
		at := strings.IndexAny(template, "{[")
		if at < 0 {
			b.WriteString(template)
			break
		}
		b.WriteString(template[:at])
		template = template[at:]
		kind, value, rest := "", template[:1], template[1:]
		if inner, after, ok := cut(template, "[[", "]]"); ok {
			kind, value, _ = strings.Cut(inner, ":")
			rest = after
		} else if inner, after, ok := cut(template, "{", "}"); ok && makers[inner] != nil {
			kind, value, rest = typeOf(inner), makers[inner](m), after
		}
		if kind != "" {
			t.Spans = append(t.Spans, Span{b.Len(), b.Len() + len(value), kind})
		}
		b.WriteString(value)
		template = rest
	}
	t.Text = b.String()
	return t, nil
}

func cut(s, open, end string) (inner, rest string, ok bool) {
	if !strings.HasPrefix(s, open) {
		return "", "", false
	}
	return strings.Cut(s[len(open):], end)
}

// typeOf is what a maker's text is labelled with; "" for what only looks like something.
func typeOf(kind string) string {
	name, _, _ := strings.Cut(kind, ":")
	switch name {
	case "email", "phone", "card", "iban":
		return name
	case "ip4", "ip6":
		return "ip"
	case "key", "password", "pem":
		return "secret"
	}
	return ""
}
