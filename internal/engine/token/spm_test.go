package token_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"macaron/internal/engine/token"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/engine/weights/gguf/gguftest"
	"macaron/internal/errs"
)

// smallSPM is a SentencePiece vocabulary: bytes, runes and some pieces with scores.
func smallSPM(prefix bool) *gguftest.Builder {
	tokens, kinds, scores := []string{"<unk>", "<s>", "</s>"}, []int32{2, 3, 3}, []float32{0, 0, 0}
	add := func(text string, kind int32, score float32) {
		tokens, kinds, scores = append(tokens, text), append(kinds, kind), append(scores, score)
	}
	for b := range 256 {
		add(fmt.Sprintf("<0x%02X>", b), 6, 0)
	}
	for i, text := range []string{"ab", "ba", "▁a", "bb", "abab", "▁▁", "aé", "▁ab", "a", "b", "c", "▁", "é", "<", "/", "s", ">"} {
		add(text, 1, -float32(i))
	}
	add("<|end|>", 3, 0)
	add("<tool>", 4, 0)
	add("\n\n", 4, 0)
	b := (&gguftest.Builder{}).String("tokenizer.ggml.model", "llama").Strings("tokenizer.ggml.tokens", tokens).Ints("tokenizer.ggml.token_type", kinds)
	return b.Floats("tokenizer.ggml.scores", scores).Bool("tokenizer.ggml.add_space_prefix", prefix).Uint("tokenizer.ggml.bos_token_id", 1).Uint("tokenizer.ggml.eos_token_id", 2)
}

// smallBERT is a WordPiece vocabulary.
func smallBERT() *gguftest.Builder {
	tokens := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁a", "▁ab", "b", "ba", "▁.", "▁,", "▁'", "s", "▁<", "▁|", "▁end", "▁>", "▁世"}
	kinds := make([]int32, len(tokens))
	for i := range kinds {
		if kinds[i] = 1; i < 4 {
			kinds[i] = 3
		}
	}
	tokens, kinds = append(tokens, "<|end|>"), append(kinds, 3)
	return (&gguftest.Builder{}).String("tokenizer.ggml.model", "bert").Strings("tokenizer.ggml.tokens", tokens).Ints("tokenizer.ggml.token_type", kinds)
}

func built(t testing.TB, b *gguftest.Builder) *token.Tokenizer {
	t.Helper()
	tok, err := buildError(t, b)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func buildError(t testing.TB, b *gguftest.Builder) (*token.Tokenizer, error) {
	t.Helper()
	f, err := gguf.Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return token.FromGGUF(f.Meta)
}

// naiveScores merges by looking at all pairs again after every merge.
func naiveScores(tok *token.Tokenizer, pieces []string, word string) (parts []string) {
	for _, r := range strings.ReplaceAll(word, " ", "▁") {
		parts = append(parts, string(r))
	}
	for {
		best, at := len(pieces), -1
		for i := 0; i+1 < len(parts); i++ {
			if rank := slices.Index(pieces, parts[i]+parts[i+1]); rank >= 0 && rank < best {
				best, at = rank, i
			}
		}
		if at < 0 {
			return parts
		}
		parts[at] += parts[at+1]
		parts = slices.Delete(parts, at+1, at+2)
	}
}

func TestMergingByScoresEqualsTheNaiveWay(t *testing.T) {
	tok := built(t, smallSPM(false))
	pieces := []string{"ab", "ba", "▁a", "bb", "abab", "▁▁", "aé", "▁ab"}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abé ]{1,40}`).Draw(t, "word")
		var got []string
		for _, id := range tok.Encode(word, false) {
			got = append(got, strings.ReplaceAll(string(tok.Piece(id)), " ", "▁"))
		}
		if want := naiveScores(tok, pieces, word); !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", word, got, want)
		}
	})
}

// A SentencePiece text comes back, bytes that are not UTF-8 too; only U+2581 is a space.
func TestSentencePieceEncodingsComeBack(t *testing.T) {
	for _, prefix := range []bool{false, true} {
		tok := built(t, smallSPM(prefix))
		rapid.Check(t, func(t *rapid.T) {
			text := texts().Filter(func(s string) bool { return !strings.Contains(s, "▁") }).Draw(t, "text")
			ids := tok.Encode(text, false)
			if got := string(tok.Decode(ids)); !prefix && got != text || prefix && strings.Count(got, " ") < strings.Count(text, " ") {
				t.Fatalf("%q comes back as %q", text, got)
			}
			s := tok.NewStream()
			var out strings.Builder
			for _, id := range ids {
				out.WriteString(s.Push(id))
			}
			out.WriteString(s.Flush())
			if got := out.String(); !utf8.ValidString(got) || !prefix && utf8.ValidString(text) && got != text {
				t.Fatalf("%q is streamed as %q", text, got)
			}
		})
	}
}

func TestSpacesOfSentencePiece(t *testing.T) {
	tok := built(t, smallSPM(true))
	for text, want := range map[string]string{
		"ab": "[▁ab]", " ab": "[▁▁ ab]", "ab ab": "[▁ab ▁ab]", "": "[]", "ab</s>ab": "[▁ab </s> ▁ab]", "é": "[▁ é]", "日": "[▁ <0xE6> <0x97> <0xA5>]", "\n\nab": "[\n\n ▁ab]",
	} {
		var got []string
		for _, id := range tok.Encode(text, true) {
			piece := strings.ReplaceAll(string(tok.Piece(id)), " ", "▁")
			if len(piece) == 1 && piece[0] >= 0x80 {
				piece = fmt.Sprintf("<0x%02X>", piece[0])
			}
			got = append(got, piece)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%q: %q, want %s", text, got, want)
		}
	}
	if front, back := tok.Frame(); len(front) != 1 || front[0] != 1 || len(back) != 0 || !tok.AddBOS() {
		t.Errorf("around a text stand %v and %v", front, back)
	}
	if got := string(tok.Decode([]int32{1, 259 + 7})); got != "<s>ab" {
		t.Errorf("the space after BOS is text: %q", got)
	}
	squeezed := built(t, smallSPM(true).Bool("tokenizer.ggml.remove_extra_whitespaces", true))
	if a, b := squeezed.Encode("  ab   ab ", false), squeezed.Encode("ab ab", false); !slices.Equal(a, b) {
		t.Errorf("blanks too many stay: %v, %v", a, b)
	}
}

func TestSentencePieceModelsThatCannotBeUsed(t *testing.T) {
	start := func() *gguftest.Builder { return (&gguftest.Builder{}).String("tokenizer.ggml.model", "llama") }
	for says, b := range map[string]*gguftest.Builder{
		"1 tokens and 2 scores": start().Strings("tokenizer.ggml.tokens", []string{"a"}).Ints("tokenizer.ggml.token_type", []int32{1}).Floats("tokenizer.ggml.scores", []float32{1, 2}),
		"is no byte":            start().Strings("tokenizer.ggml.tokens", []string{"<0x1>"}).Ints("tokenizer.ggml.token_type", []int32{6}).Floats("tokenizer.ggml.scores", []float32{1}),
		"at most 2048":          start().Strings("tokenizer.ggml.tokens", []string{strings.Repeat("a", 3000)}).Ints("tokenizer.ggml.token_type", []int32{1}).Floats("tokenizer.ggml.scores", []float32{1}),
		"at most 512":           start().Strings("tokenizer.ggml.tokens", []string{strings.Repeat("a", 600)}).Ints("tokenizer.ggml.token_type", []int32{3}).Floats("tokenizer.ggml.scores", []float32{1}),
	} {
		if _, err := buildError(t, b); errs.CodeOf(err) != errs.FormatInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

// Whatever the vocabulary, control tokens come from trusted text alone, and all-trusted
// or all-untrusted segments are one text.
func TestSegmentsOfEveryKindOfVocabulary(t *testing.T) {
	for name, tok := range map[string]*token.Tokenizer{"spm": built(t, smallSPM(true)), "bert": built(t, smallBERT())} {
		end, _ := tok.ID("<|end|>")
		rapid.Check(t, func(t *rapid.T) {
			parts := rapid.SliceOfN(texts(), 0, 6).Draw(t, "parts")
			var all, none, mixed []token.Segment
			own, run, before := 0, "", false
			for _, p := range parts {
				m := token.Segment{Text: p, Trusted: rapid.Bool().Draw(t, "trusted")}
				all, none, mixed = append(all, token.Segment{Text: p, Trusted: true}), append(none, token.Segment{Text: p}), append(mixed, m)
				if m.Trusted != before {
					own, run, before = own+strings.Count(run, "<|end|>"), "", m.Trusted
				}
				if m.Trusted {
					run += p
				}
			}
			own += strings.Count(run, "<|end|>")
			joined := strings.Join(parts, "")
			if got := tok.EncodeSegments(all); !slices.Equal(got, tok.Encode(joined, true)) {
				t.Fatalf("%s: all trusted: %v", name, got)
			}
			if got := tok.EncodeSegments(none); !slices.Equal(got, tok.Encode(joined, false)) || count(got, end) > 0 {
				t.Fatalf("%s: none trusted: %v", name, got)
			}
			if n := count(tok.EncodeSegments(mixed), end); n != own {
				t.Fatalf("%s: %d control tokens from %d trusted ones", name, n, own)
			}
		})
	}
}

func TestWordPieceWords(t *testing.T) {
	tok := built(t, smallBERT())
	for text, want := range map[string]string{
		"ab": "[5]", "abba": "[5 7]", "abab": "[1]", "ÁB, a's.": "[5 9 4 10 1 8]", "a世a": "[4 16 4]", "a\x00b\u00adb": "[5 6]", strings.Repeat("a", 101): "[1]", "[CLS]": "[1 1 1]", "\xff": "[]",
	} {
		if got := fmt.Sprint(tok.Encode(text, false)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := string(tok.Decode([]int32{2, 5, 7, 8, 4, 3})); got != "[CLS] abba. a [SEP]" {
		t.Errorf("decoded %q", got)
	}
	if front, back := tok.Frame(); fmt.Sprint(front, back) != "[2] [3]" || tok.AddBOS() {
		t.Errorf("around a text stand %v and %v", front, back)
	}
}

// A megabyte without a space takes about as long as one with spaces.
func TestAMegabyteOfOneWordInEveryKind(t *testing.T) {
	for _, tok := range []*token.Tokenizer{built(t, smallSPM(true)), built(t, smallBERT()), vocabulary(t, "llama-spm"), vocabulary(t, "deepseek-llm"), vocabulary(t, "falcon")} {
		for _, unit := range []string{"ab", "a", "\n", " ", "<", "<|end|", "é", "é\u0301", "▁", "日", ".", "\t \n"} {
			text := strings.Repeat(unit, (1<<20)/len(unit))
			if ids := tok.Encode(text, false); len(ids) == 0 && strings.TrimSpace(text) != "" {
				t.Errorf("%s: a megabyte of %q is nothing", tok, unit)
			}
		}
	}
}

func FuzzSentencePiece(f *testing.F) {
	plain, real := built(f, smallSPM(false)), vocabulary(f, "llama-spm")
	for _, seed := range []string{"", "Hello, world 123", "<s></s><|end|>", "\xff\xfe", "a  b\n\n12 ½", "▁▁", "日本 é", "<0x0A>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "▁") { // which is a space
			return
		}
		for _, special := range []bool{false, true} {
			if got := string(plain.Decode(plain.Encode(text, special))); got != text {
				t.Fatalf("%q comes back as %q", text, got)
			}
		}
		ids := real.Encode(text, false)
		if got := string(real.Decode(ids)); got != text {
			t.Fatalf("%q comes back as %q", text, got)
		}
		if slices.ContainsFunc(ids, real.IsControl) {
			t.Fatalf("plain text %q became a control token", text)
		}
	})
}

func FuzzWordPiece(f *testing.F) {
	tok := vocabulary(f, "bert-bge")
	unk, _ := tok.ID("[UNK]")
	for _, seed := range []string{"", "Hello, world's 123", "[CLS][SEP]", "\xff\xfe", "ÀÉ İ ß", "日本 é\u0301"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ids := tok.Encode(text, false)
		if len(ids) > 4*len(text) {
			t.Fatalf("%d tokens of %d bytes", len(ids), len(text))
		}
		for _, id := range ids {
			if tok.IsControl(id) && id != unk {
				t.Fatalf("plain text %q became the control token %d", text, id)
			}
		}
		if again := tok.Encode(text, false); !slices.Equal(ids, again) {
			t.Fatalf("%q is %v, then %v", text, ids, again)
		}
	})
}
