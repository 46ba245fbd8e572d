package engine

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/model"
	"macaron/internal/engine/weights/safetensors"
)

// directory is a checkpoint with a byte-level vocabulary of printable characters, an
// end of turn and a chat template beside it.
func directory(t *testing.T, checkpoint string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "small")
	if err := os.CopyFS(dir, os.DirFS(checkpoint)); err != nil {
		t.Fatal(err)
	}
	vocab := map[string]int{"Ġ": 94, "Ċ": 95, "<|end|>": 96, "<|turn|>": 97}
	for c := '!'; c <= '~'; c++ {
		vocab[string(c)] = int(c - '!')
	}
	special := func(id int, content string) map[string]any {
		return map[string]any{"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}
	}
	level := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}
	for name, v := range map[string]any{
		"tokenizer.json": map[string]any{"version": "1.0", "added_tokens": []any{special(96, "<|end|>"), special(97, "<|turn|>")}, "pre_tokenizer": level, "decoder": level,
			"model": map[string]any{"type": "BPE", "vocab": vocab, "merges": []string{}}},
		"tokenizer_config.json":  map[string]any{"eos_token": "<|end|>", "chat_template": "{{ messages[0].content }}"},
		"generation_config.json": map[string]any{"eos_token_id": []int{96, 97}},
	} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestEngineServesADirectory: weights, vocabulary, ends and template of a directory, the
// next token as transformers has it, and the same from packed weights.
func TestEngineServesADirectory(t *testing.T) {
	const checkpoint = "model/testdata/arch/mistral"
	dir, home := directory(t, checkpoint), t.TempDir()
	f, err := safetensors.Open(filepath.Join(checkpoint, "golden.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ids, err := f.Tensor("tokens")
	if err != nil {
		t.Fatal(err)
	}
	var prompt []int32
	for raw := ids.Data; len(raw) > 0; raw = raw[4:] {
		prompt = append(prompt, int32(binary.LittleEndian.Uint32(raw)))
	}
	stored, err := f.Tensor("logits")
	if err != nil {
		t.Fatal(err)
	}
	logits, err := stored.Float32()
	if err != nil {
		t.Fatal(err)
	}
	want := kernel.ArgMax(logits[len(logits)-128:]) // of the last position

	var first []Token
	for round := range 2 {
		e := open(t, dir, func(o *Options) { o.Float32, o.Packed = true, home })
		digest, err := model.Digest(dir)
		if info := e.Info(); err != nil || info.Base != digest || info.Template != "{{ messages[0].content }}" || info.Name != "small" {
			t.Errorf("%+v, %v, want the base %s", info, err, digest)
		}
		tok := e.Tokenizer()
		if got := tok.Decode(tok.Encode("a b\nc", false)); string(got) != "a b\nc" || !tok.IsEOG(96) || !tok.IsEOG(97) || tok.IsEOG(95) {
			t.Errorf("the text comes back as %q; ends are %v", got, tok.EOG())
		}
		got := generate(t, e, Request{Prompt: prompt, MaxTokens: 12, IgnoreEOS: true})
		if int(got[0].ID) != want {
			t.Errorf("round %d: the next token is %d, want %d", round, got[0].ID, want)
		}
		if diff := cmp.Diff(first, got); round > 0 && diff != "" {
			t.Errorf("packed weights give other tokens: %s", diff)
		}
		first = got
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
