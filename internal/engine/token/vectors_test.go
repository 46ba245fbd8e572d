package token_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/engine/token"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/errs"
	"macaron/internal/testvectors"
)

// published are the vocabularies of llama.cpp's own conformance vectors that our
// rules cover.
var published = []string{"starcoder", "refact", "command-r", "gpt-2", "mpt", "llama-bpe", "qwen2", "qwen35",
	"falcon", "deepseek-llm", "deepseek-coder", "llama-spm", "phi-3", "bert-bge", "gemma-4"}

// load opens the tokenizer of a model file.
func load(t testing.TB, path string) *token.Tokenizer {
	t.Helper()
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tok, err := token.FromGGUF(f.Meta)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func vocabulary(t testing.TB, name string) *token.Tokenizer {
	t.Helper()
	return load(t, testvectors.Path(t, "ggml-vocab-"+name+".gguf"))
}

func TestPublishedVectors(t *testing.T) {
	for _, name := range published {
		t.Run(name, func(t *testing.T) {
			tok := vocabulary(t, name)
			texts, want := vectors(t, name)
			equal := 0
			for i, text := range texts {
				got := tok.Encode(text, false)
				if d := cmp.Diff(want[i], got); d != "" {
					t.Errorf("case %d %q: %s", i, text, d)
					continue
				}
				equal++
				if back := string(tok.Decode(got)); back != text && name != "bert-bge" { // which does not keep case and blanks
					t.Errorf("case %d %q comes back as %q", i, text, back)
				}
			}
			if equal < 40 {
				t.Errorf("%d of %d cases are equal", equal, len(texts))
			}
			t.Logf("%d of %d cases are equal", equal, len(texts))
		})
	}
}

// Published vocabularies of an algorithm that is not built in are refused by name.
func TestVocabulariesThatAreNotBuiltIn(t *testing.T) {
	f, err := gguf.Open(testvectors.Path(t, "ggml-vocab-nomic-bert-moe.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := token.FromGGUF(f.Meta); errs.CodeOf(err) != errs.Unsupported || !strings.Contains(err.Error(), `"t5"`) || !strings.Contains(err.Error(), "bert (WordPiece)") {
		t.Errorf("%v", err)
	}
}

// vectors reads the cases of a vocabulary: texts and their ids.
func vectors(t *testing.T, name string) (texts []string, ids [][]int32) {
	t.Helper()
	in, err := os.ReadFile(testvectors.Path(t, "ggml-vocab-"+name+".gguf.inp"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.ReadFile(testvectors.Path(t, "ggml-vocab-"+name+".gguf.out"))
	if err != nil {
		t.Fatal(err)
	}
	texts = strings.Split(string(in), "\n__ggml_vocab_test__\n")
	for _, line := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		row := []int32{}
		for _, field := range strings.Fields(line) {
			n, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, int32(n))
		}
		ids = append(ids, row)
	}
	if n := len(texts) - 1; len(ids) == n && texts[n] == "" {
		texts = texts[:n]
	}
	if len(texts) != len(ids) {
		t.Fatalf("%d texts, %d lines of ids", len(texts), len(ids))
	}
	return texts, ids
}
