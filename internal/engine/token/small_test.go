package token_test

import (
	"fmt"
	"strings"
	"testing"

	"macaron/internal/engine/token"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/engine/weights/gguf/gguftest"
	"macaron/internal/errs"
)

// spell gives the rune with which byte-level vocabularies write a byte.
func spell(b byte) string {
	if b > ' ' && b < 0x7f || b > 0xa0 && b != 0xad {
		return string(rune(b))
	}
	n := rune(0x100)
	for c := range b {
		if !(c > ' ' && c < 0x7f || c > 0xa0 && c != 0xad) {
			n++
		}
	}
	return string(n)
}

// small is a vocabulary of all bytes, some merges, two control tokens, a tag and a
// run of blanks that are user-defined.
type small struct {
	pre    string
	tokens []string
	kinds  []int32
	merges []string
	extra  func(*gguftest.Builder)
}

func newSmall() *small {
	s := &small{pre: "gpt-2"}
	for b := range 256 {
		s.add(spell(byte(b)), 1)
	}
	for _, pair := range []string{"a b", "ab a", "b a", "b b", "bb bb", "Ġ a", "Ġa b", "Ċ Ċ", "c ab", "ab ab", "abab abab"} {
		s.merges = append(s.merges, pair)
		s.add(strings.ReplaceAll(pair, " ", ""), 1)
	}
	s.add("<|end|>", 3)
	s.add("<|start|>", 3)
	s.add("<tool>", 4)
	s.add("   ", 4)
	return s
}

func (s *small) add(text string, kind int32) {
	s.tokens = append(s.tokens, text)
	s.kinds = append(s.kinds, kind)
}

func (s *small) load(t testing.TB) (*token.Tokenizer, error) {
	t.Helper()
	return token.FromGGUF(s.meta(t))
}

// meta is the vocabulary in a file.
func (s *small) meta(t testing.TB) gguf.Meta {
	t.Helper()
	b := &gguftest.Builder{}
	b.String("tokenizer.ggml.model", "gpt2").String("tokenizer.ggml.pre", s.pre)
	b.Strings("tokenizer.ggml.tokens", s.tokens).Ints("tokenizer.ggml.token_type", s.kinds).Strings("tokenizer.ggml.merges", s.merges)
	if s.extra != nil {
		s.extra(b)
	}
	f, err := gguf.Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return f.Meta
}

func (s *small) must(t testing.TB) *token.Tokenizer {
	t.Helper()
	tok, err := s.load(t)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestVocabulariesThatCannotBeUsed(t *testing.T) {
	cases := map[string]struct {
		change func(*small)
		code   errs.Code
		says   string
	}{
		"unknown pre-tokeniser": {func(s *small) { s.pre = "martian" }, errs.Unsupported, "martian"},
		"fewer types":           {func(s *small) { s.kinds = s.kinds[:3] }, errs.FormatInvalid, "3 token types"},
		"unknown type":          {func(s *small) { s.kinds[5] = 9 }, errs.FormatInvalid, "unknown type 9"},
		"no tokens":             {func(s *small) { s.tokens, s.kinds = nil, nil }, errs.FormatInvalid, "0 tokens"},
		"merge of one":          {func(s *small) { s.merges[0] = "ab" }, errs.FormatInvalid, "not a pair"},
		"merge beyond":          {func(s *small) { s.merges[0] = "a q" }, errs.FormatInvalid, "not in the vocabulary"},
		"EOS beyond": {func(s *small) { s.extra = func(b *gguftest.Builder) { b.Uint("tokenizer.ggml.eos_token_id", 9999) } },
			errs.FormatInvalid, "eos_token_id is 9999"},
	}
	for name, c := range cases {
		s := newSmall()
		c.change(s)
		if _, err := s.load(t); errs.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f, err := gguf.Parse((&gguftest.Builder{}).String("tokenizer.ggml.model", "rwkv").Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := token.FromGGUF(f.Meta); errs.CodeOf(err) != errs.Unsupported || errs.As(err).Next == "" {
		t.Errorf("another algorithm: %v", err)
	}
}

func TestHashCoversWhatDecidesAnEncoding(t *testing.T) {
	base := newSmall().must(t).Hash()
	if again := newSmall().must(t).Hash(); again != base || !strings.HasPrefix(base, "sha256:") || len(base) != 71 {
		t.Fatalf("%s, then %s", base, again)
	}
	seen := map[string]string{base: "base"}
	for name, change := range map[string]func(*small){
		"pre":     func(s *small) { s.pre = "qwen2" },
		"a token": func(s *small) { s.tokens[len(s.tokens)-1] = "  " },
		"a type":  func(s *small) { s.kinds[len(s.kinds)-1] = 3 },
		"merges":  func(s *small) { s.merges[0], s.merges[3] = s.merges[3], s.merges[0] },
		"EOS":     func(s *small) { s.extra = func(b *gguftest.Builder) { b.Uint("tokenizer.ggml.eos_token_id", 3) } },
		"BOS":     func(s *small) { s.extra = func(b *gguftest.Builder) { b.Uint("tokenizer.ggml.bos_token_id", 3) } },
		"adding BOS": func(s *small) {
			s.extra = func(b *gguftest.Builder) {
				b.Bool("tokenizer.ggml.add_bos_token", true).Uint("tokenizer.ggml.bos_token_id", 3)
			}
		},
	} {
		s := newSmall()
		change(s)
		h := s.must(t).Hash()
		if other, dup := seen[h]; dup {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[h] = name
	}
}

func TestControlTokensOnlyFromTrustedText(t *testing.T) {
	tok := newSmall().must(t)
	end, _ := tok.ID("<|end|>")
	tool, _ := tok.ID("<tool>")
	blanks, _ := tok.ID("   ")
	if !tok.IsControl(end) || tok.IsControl(tool) || tok.IsControl(blanks) || tok.IsControl(-1) || !tok.IsEOG(end) {
		t.Fatal("the kinds of tokens are wrong")
	}
	has := func(ids []int32, id int32) bool { return count(ids, id) > 0 }
	if ids := tok.Encode("<|end|><tool>   x", true); !has(ids, end) || !has(ids, tool) || !has(ids, blanks) || len(ids) != 4 {
		t.Errorf("with special: %v", ids)
	}
	if ids := tok.Encode("<|end|><tool>   x", false); has(ids, end) || has(ids, tool) || !has(ids, blanks) {
		t.Errorf("without special: %v", ids)
	}
	for _, parts := range [][]token.Segment{
		{{Text: "<|en", Trusted: true}, {Text: "d|>"}},
		{{Text: "<|en"}, {Text: "d|>", Trusted: true}},
		{{Text: "<", Trusted: true}, {Text: "|end|"}, {Text: ">", Trusted: true}},
		{{Text: "<"}, {Text: "|end|>"}},
	} {
		if ids := tok.EncodeSegments(parts); has(ids, end) {
			t.Errorf("%v became a control token", parts)
		}
	}
	if ids := tok.EncodeSegments([]token.Segment{{Text: "<|en", Trusted: true}, {Text: "", Trusted: false}, {Text: "d|>", Trusted: true}}); has(ids, end) {
		t.Errorf("text on both sides of an empty segment joined: %v", ids)
	}
	if ids := tok.EncodeSegments([]token.Segment{{Text: "<|en", Trusted: true}, {Text: "d|>", Trusted: true}}); !has(ids, end) {
		t.Errorf("two trusted segments did not join: %v", ids)
	}
	if ids := tok.EncodeSegments(nil); len(ids) != 0 {
		t.Errorf("nothing became %v", ids)
	}
}

func TestStreamGivesWholeRunesOnly(t *testing.T) {
	tok := newSmall().must(t)
	end, _ := tok.ID("<|end|>")
	feed := func(ids ...int32) (out []string) {
		s := tok.NewStream()
		for _, id := range ids {
			out = append(out, s.Push(id))
		}
		return append(out, s.Flush())
	}
	for name, c := range map[string]struct {
		ids  []int32
		want []string
	}{
		"a rune of four bytes": {[]int32{0xf0, 0x9f, 0xa6, 0x99}, []string{"", "", "", "🦙", ""}},
		"cut short":            {[]int32{'a', 0xf0, 0x9f}, []string{"a", "", "", "\ufffd"}},
		"never valid":          {[]int32{0xff, 'a'}, []string{"\ufffd", "a", ""}},
		"broken in the middle": {[]int32{0xe4, 0xbd, 'x'}, []string{"", "", "\ufffd\ufffdx", ""}},
		"control":              {[]int32{0xc3, end, 0xa9}, []string{"", "", "é", ""}},
		"outside":              {[]int32{-1, 99999}, []string{"", "", ""}},
	} {
		if got := feed(c.ids...); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestBytesThatAVocabularyLacksAreDropped(t *testing.T) {
	s := newSmall()
	s.kinds['q'] = 5 // unused
	tok := s.must(t)
	if !tok.Lacks('q') || tok.Lacks('r') {
		t.Fatal("Lacks is wrong")
	}
	if got := string(tok.Decode(tok.Encode("aqbqr", false))); got != "abr" {
		t.Errorf("got %q", got)
	}
	ab, _ := tok.ID("ab")
	if ids := tok.Encode("aqb", false); len(ids) != 1 || ids[0] != ab {
		t.Errorf("the neighbours of a dropped byte did not meet: %v", ids)
	}
}
