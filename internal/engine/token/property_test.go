package token_test

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"macaron/internal/engine/token"
)

// naive merges a word by looking at all its pairs again after every merge.
func naive(s *small, tok *token.Tokenizer, word string) []int32 {
	var parts []string
	for i := range len(word) {
		parts = append(parts, spell(word[i]))
	}
	for {
		best, at := len(s.merges), -1
		for i := 0; i+1 < len(parts); i++ {
			if rank := slices.Index(s.merges, parts[i]+" "+parts[i+1]); rank >= 0 && rank < best {
				best, at = rank, i
			}
		}
		if at < 0 {
			break
		}
		parts[at] += parts[at+1]
		parts = slices.Delete(parts, at+1, at+2)
	}
	var ids []int32
	for _, p := range parts {
		ids = append(ids, int32(slices.Index(s.tokens, p)))
	}
	return ids
}

func TestMergingEqualsTheNaiveWay(t *testing.T) {
	s := newSmall()
	tok := s.must(t)
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abc]{1,60}`).Draw(t, "word")
		if got, want := tok.Encode(word, false), naive(s, tok, word); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// texts draws strings rich in what tokenisers trip over, not always UTF-8.
func texts() *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{" ", "  ", "   ", "\n", "\r\n", "\t", "\u00a0", "'s", "'RE", "'", "<|end|>", "<|start|>", "<|end", "|>", "<tool>", "12345", "½", "ab", "é", "🦙", "\xff", "\xe4\xbd"}),
		rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	return rapid.Map(rapid.SliceOfN(part, 0, 12), func(p []string) string { return strings.Join(p, "") })
}

func TestEncodingsComeBack(t *testing.T) {
	for _, pre := range []string{"gpt-2", "smollm", "llama-bpe", "qwen2", "qwen35"} {
		s := newSmall()
		s.pre = pre
		tok := s.must(t)
		rapid.Check(t, func(t *rapid.T) {
			text := texts().Draw(t, "text")
			for _, special := range []bool{false, true} {
				if got := string(tok.Decode(tok.Encode(text, special))); got != text {
					t.Fatalf("%s: %q comes back as %q", pre, text, got)
				}
			}
		})
	}
}

func TestSegmentsAreOneTextWithGuardedControlTokens(t *testing.T) {
	tok := newSmall().must(t)
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(texts(), 0, 6).Draw(t, "parts")
		var all, none, mixed []token.Segment
		trusted := 0
		for _, p := range parts {
			all = append(all, token.Segment{Text: p, Trusted: true})
			none = append(none, token.Segment{Text: p})
			m := token.Segment{Text: p, Trusted: rapid.Bool().Draw(t, "trusted")}
			mixed = append(mixed, m)
			if m.Trusted {
				trusted += strings.Count(p, "<|end|>")
			}
		}
		joined := strings.Join(parts, "")
		if got := tok.EncodeSegments(all); !slices.Equal(got, tok.Encode(joined, true)) {
			t.Fatalf("all trusted: %v", got)
		}
		if got := tok.EncodeSegments(none); !slices.Equal(got, tok.Encode(joined, false)) {
			t.Fatalf("none trusted: %v", got)
		}
		got := tok.EncodeSegments(mixed)
		if string(tok.Decode(got)) != joined {
			t.Fatalf("mixed: %q", tok.Decode(got))
		}
		var own int // of neighbouring trusted segments together
		for i := 0; i < len(mixed); {
			run := ""
			j := i
			for ; j < len(mixed) && mixed[j].Trusted == mixed[i].Trusted; j++ {
				run += mixed[j].Text
			}
			if mixed[i].Trusted {
				own += strings.Count(run, "<|end|>")
			}
			i = j
		}
		end, _ := tok.ID("<|end|>")
		if n := count(got, end); n != own || n < trusted {
			t.Fatalf("%d control tokens from %d trusted ones", n, own)
		}
	})
}

func TestStreamEqualsDecode(t *testing.T) {
	tok := newSmall().must(t)
	rapid.Check(t, func(t *rapid.T) {
		ids := tok.Encode(texts().Draw(t, "text"), false)
		s := tok.NewStream()
		var out strings.Builder
		for _, id := range ids {
			piece := s.Push(id)
			if !utf8.ValidString(piece) {
				t.Fatalf("%q is not whole runes", piece)
			}
			out.WriteString(piece)
		}
		out.WriteString(s.Flush())
		raw := tok.Decode(ids)
		if utf8.Valid(raw) && out.String() != string(raw) {
			t.Fatalf("%q, want %q", out.String(), raw)
		}
		if !utf8.Valid(raw) && !strings.Contains(out.String(), "\ufffd") {
			t.Fatalf("%q hides that %q is not UTF-8", out.String(), raw)
		}
	})
}

// Long words are merged in one go. A method that is quadratic in the length of a
// word would take hours on these.
func TestAMegabyteWithoutASpace(t *testing.T) {
	tok := newSmall().must(t)
	for _, unit := range []string{"ab", "a", "b", "\n", "1", "<", "<|end|", "é", "'", " "} {
		text := strings.Repeat(unit, (1<<20)/len(unit))
		if got := tok.Decode(tok.Encode(text, false)); !bytes.Equal(got, []byte(text)) {
			t.Errorf("a megabyte of %q does not come back", unit)
		}
	}
}

func FuzzEncode(f *testing.F) {
	s := newSmall()
	s.pre = "smollm"
	small := s.must(f)
	real := vocabulary(f, "gpt-2")
	for _, seed := range []string{"", "Hello, world 123", "<|end|><|endoftext|>", "\xff\xfe", "don't  stop\n\n12 ½", "\u00a0\u2028 '\u017f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, tok := range []*token.Tokenizer{small, real} {
			for _, special := range []bool{false, true} {
				ids := tok.Encode(text, special)
				if got := string(tok.Decode(ids)); got != text {
					t.Fatalf("%q comes back as %q", text, got)
				}
				if !special && slices.ContainsFunc(ids, tok.IsControl) {
					t.Fatalf("plain text %q became a control token", text)
				}
			}
		}
	})
}

func TestManyAtOnceGetTheSame(t *testing.T) {
	tok := newSmall().must(t)
	text := strings.Repeat("abba <|end|> ab 12 é🦙\n", 50)
	want := tok.Encode(text, true)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if !slices.Equal(tok.Encode(text, true), want) {
					t.Error("another encoding")
				}
			}
		})
	}
	wg.Wait()
}
