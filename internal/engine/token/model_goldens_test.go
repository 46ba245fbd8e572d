package token_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"macaron/internal/engine/token"
	"macaron/internal/testvectors"
)

// The tokenizers of real models give the ids and texts that SentencePiece and the
// transformers library give; see testdata/make_model_goldens.py.
func TestGoldensOfRealModels(t *testing.T) {
	models := map[string]*token.Tokenizer{"gemma3": load(t, testvectors.Gemma.Path(t)), "llama-spm": vocabulary(t, "llama-spm"), "minilm": minilm(t)}
	all, equal := map[string]int{}, map[string]int{}
	unzipped(t, "testdata/model_goldens.jsonl.gz", func(line []byte) {
		var name, text, want string
		if err := json.Unmarshal(line, &[]any{&name, &text, &want}); err != nil {
			t.Fatal(err)
		}
		all[name]++
		tok := models[name]
		plain := tok.Encode(text, false)
		back := tok.Decode(plain)
		got := shortIDs(tok.Encode(text, true)) + shortIDs(plain) + short(back)
		if !utf8.Valid(back) {
			t.Errorf("%s: %q comes back as %q", name, text, back)
		}
		if got == want {
			equal[name]++
		} else if all[name]-equal[name] < 6 {
			t.Errorf("%s %q: %s, want %s: %v, plain %v, back %q", name, text, got, want, tok.Encode(text, true), plain, back)
		}
	})
	for name := range models {
		if all[name] < 1000 || equal[name] != all[name] {
			t.Errorf("%s: %d of %d texts are equal", name, equal[name], all[name])
		}
		t.Logf("%s: %d of %d texts are equal", name, equal[name], all[name])
	}
}

// fromDirectory reads the tokenizer of a Hugging Face directory.
func fromDirectory(t testing.TB, dir string) *token.Tokenizer {
	t.Helper()
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return b
	}
	tok, err := token.FromJSON(read("tokenizer.json"), read("tokenizer_config.json"), read("special_tokens_map.json"), read("generation_config.json"), read("config.json"))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func minilm(t testing.TB) *token.Tokenizer {
	t.Helper()
	return fromDirectory(t, testvectors.MiniLM.Path(t))
}
