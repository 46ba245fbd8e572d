package token_test

import (
	"slices"
	"strings"
	"testing"

	"macaron/internal/engine/token"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/errs"
	"macaron/internal/testmodel"
	"macaron/internal/testvectors"
)

// exported writes the tokenizer of a model file and reads it again from what was written.
func exported(t testing.TB, path string) *token.Tokenizer {
	t.Helper()
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	files, err := token.Export(f.Meta)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string][]byte{}
	for _, x := range files {
		by[x.Name] = x.Bytes
	}
	tok, err := token.FromJSON(by["tokenizer.json"], by["tokenizer_config.json"], by["special_tokens_map.json"], by["generation_config.json"])
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// What is exported gives the same ids, frame and ends when it is read again.
func TestExportsComeBack(t *testing.T) {
	texts, _ := hfGoldens(t)
	paths := map[string]string{"default": testmodel.Path(t), "gemma3": testvectors.Gemma.Path(t)}
	for _, name := range []string{"llama-spm", "phi-3", "bert-bge", "qwen2", "gpt-2", "falcon", "deepseek-llm", "deepseek-coder", "refact"} {
		paths[name] = testvectors.Path(t, "ggml-vocab-"+name+".gguf")
	}
	// Scores become merges; user-defined tokens amid the others can be made by merging.
	otherHash := []string{"gemma3", "llama-spm", "phi-3"}
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			want, got := load(t, path), exported(t, path)
			if same := got.Hash() == want.Hash(); same == slices.Contains(otherHash, name) {
				t.Errorf("the hash is equal: %v", same)
			}
			front, back := want.Frame()
			if f, b := got.Frame(); !slices.Equal(f, front) || !slices.Equal(b, back) || got.BOS() != want.BOS() || got.EOS() != want.EOS() ||
				!slices.Equal(got.EOG(), want.EOG()) || got.Vocab() != want.Vocab() || got.AddBOS() != want.AddBOS() {
				t.Errorf("%v %v, BOS %d, EOS %d, EOG %v, %d tokens; want %v %v, %d, %d, %v, %d",
					f, b, got.BOS(), got.EOS(), got.EOG(), got.Vocab(), front, back, want.BOS(), want.EOS(), want.EOG(), want.Vocab())
			}
			for _, text := range texts {
				for _, special := range []bool{true, false} {
					a, b := want.Encode(text, special), got.Encode(text, special)
					if !slices.Equal(a, b) {
						t.Fatalf("%q (special %v): %v, exported %v", text, special, a, b)
					}
				}
				ids := want.Encode(text, false)
				if a, b := string(want.Decode(ids)), string(got.Decode(ids)); a != b {
					t.Fatalf("%q comes back as %q, exported as %q", text, a, b)
				}
			}
		})
	}
}

// Every family can be written, and what is written is known when it is read.
func TestEveryFamilyIsExported(t *testing.T) {
	for _, name := range token.Families() {
		s := newSmall()
		s.pre = name
		tok := s.must(t)
		files, err := token.Export(s.meta(t))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		back, err := token.FromJSON(files[3].Bytes, files[0].Bytes, files[1].Bytes, files[2].Bytes)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, text := range []string{"abba 12345 don't  ab\n\n c", "你好 ab ÄÖ éE Eé 3.14159 \r\n", " \t ab!?'RE"} {
			if a, b := tok.Encode(text, true), back.Encode(text, true); !slices.Equal(a, b) {
				t.Errorf("%s: %q is %v, exported %v", name, text, a, b)
			}
		}
	}
}

func TestExportsThatCannotBe(t *testing.T) {
	s := newSmall()
	s.tokens[256] = "ab\xff"
	s.merges = nil
	if _, err := token.Export(s.meta(t)); errs.CodeOf(err) != errs.Unsupported || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("%v", err)
	}
}
