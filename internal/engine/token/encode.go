package token

import "strings"

// Segment is a piece of a prompt. Trusted text comes from the program (a template's
// own literals); untrusted text from people, tools and models.
type Segment struct {
	Text    string
	Trusted bool
}

// Encode gives the tokens of text. With special, the texts of control tokens
// become those tokens; without, they are plain characters. Text that is not UTF-8
// keeps its bytes.
func (t *Tokenizer) Encode(text string, special bool) []int32 {
	trusted := 0
	if special {
		trusted = len(text)
	}
	return t.encode(text, func(int) int { return trusted })
}

// EncodeSegments gives the tokens of the joined text, merging across the borders
// of segments just as if it were one, except that a control token is only
// recognised where all of it lies in trusted text.
func (t *Tokenizer) EncodeSegments(segments []Segment) []int32 {
	var all strings.Builder
	var stretches []stretch
	for _, s := range segments {
		all.WriteString(s.Text)
		if n := len(stretches); n > 0 && stretches[n-1].trusted == s.Trusted {
			stretches[n-1].end = all.Len()
			continue
		}
		stretches = append(stretches, stretch{end: all.Len(), trusted: s.Trusted})
	}
	at := 0
	return t.encode(all.String(), func(i int) int {
		for stretches[at].end <= i {
			at++
		}
		if !stretches[at].trusted {
			return i
		}
		return stretches[at].end
	})
}

// stretch is neighbouring segments of equal trust; end is an offset in the text.
type stretch struct {
	end     int
	trusted bool
}

// encode splits text at added tokens and the rest into words; trustedTo is that of
// trie.scan.
func (t *Tokenizer) encode(text string, trustedTo func(int) int) []int32 {
	m, _ := t.scratch.Get().(*merger)
	if m == nil {
		m = &merger{t: t}
	}
	defer t.scratch.Put(m)
	out := make([]int32, 0, len(text)/3+1)
	return t.added.scan(out, text, trustedTo, func(out []int32, plain string, at int) []int32 {
		return m.section(out, plain, at == 0)
	})
}
