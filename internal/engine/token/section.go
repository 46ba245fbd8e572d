package token

import (
	"unicode"
	"unicode/utf8"
)

// section appends the tokens of text without tokens that are found as it comes; start
// tells that the text begins the whole text.
func (m *merger) section(out []int32, text string, start bool) []int32 {
	t := m.t
	if text == "" {
		return out
	}
	if t.norm != nil {
		text = t.norm(text, start)
	}
	if t.later.empty() {
		return m.words(out, text, start)
	}
	return t.later.scan(out, text, func(int) int { return 0 }, func(out []int32, plain string, at int) []int32 {
		return m.words(out, plain, start && at == 0)
	})
}

// words appends the tokens of a normalised text that holds no added token.
func (m *merger) words(out []int32, text string, start bool) []int32 {
	t := m.t
	if text != "" && t.before != nil {
		text = t.before(text, start)
	}
	return m.pieces(out, text, t.split)
}

// pieces splits a text by the first splitter, the pieces by the next, and so on.
func (m *merger) pieces(out []int32, text string, split []splitter) []int32 {
	if len(split) == 0 {
		if text == "" || m.t.blanks && blankFirst(text) {
			return out
		}
		return m.word(out, text)
	}
	for len(text) > 0 {
		n := split[0](text)
		out = m.pieces(out, text[:n], split[1:])
		text = text[n:]
	}
	return out
}

func blankFirst(s string) bool {
	c, _ := classify(s)
	return c == space
}

// scan splits text at the tokens of the trie, appends those, and gives the text between
// them, with its offset, to between. trustedTo gives, for ascending offsets, the end of
// the trusted text that holds the offset, or no more than the offset where text is
// untrusted. Blanks that a token takes with it may hold tokens of their own, which count
// too, as they do for the tokenizers library.
func (t *trie) scan(out []int32, text string, trustedTo func(int) int, between func(out []int32, plain string, at int) []int32) []int32 {
	plain := 0 // start of the text that is not yet encoded
	for i := 0; i < len(text); {
		if t.first[text[i]] == 0 {
			i++
			continue
		}
		a, n := t.match(text[i:], trustedTo(i)-i)
		if n == 0 {
			i++
			continue
		}
		if a.word && (wordBefore(text[:i]) || wordAfter(text[i+n:])) {
			i += n
			continue
		}
		end := i
		if a.left {
			end = trimRight(text, i)
		}
		if plain < end {
			out = between(out, text[plain:end], plain)
		}
		out = append(out, a.id)
		i += n
		plain = i
		if a.right {
			plain += run(text[i:], space)
		}
	}
	if plain < len(text) {
		out = between(out, text[plain:], plain)
	}
	return out
}

// trimRight is the offset of the blanks that end text[:i].
func trimRight(text string, i int) int {
	for i > 0 {
		_, n := utf8.DecodeLastRuneInString(text[:i])
		if c, _ := classify(text[i-n:]); c != space {
			break
		}
		i -= n
	}
	return i
}

func wordBefore(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return s != "" && wordRune(r)
}

func wordAfter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && wordRune(r)
}

// wordRune is \w of Unicode regular expressions.
func wordRune(r rune) bool {
	return unicode.In(r, unicode.L, unicode.Nl, unicode.M, unicode.Nd, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}
