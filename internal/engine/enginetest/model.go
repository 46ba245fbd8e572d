// Package enginetest makes tiny models and adapters with random weights for tests: all
// the machinery of a real model, computed in microseconds.
package enginetest

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"macaron/internal/engine/weights/gguf"
)

// Sizes of the tiny model.
const (
	Layers  = 2
	Width   = 64
	Heads   = 4
	KVHeads = 2
	HeadDim = 16
	FF      = 96
	Context = 1024
	Vocab   = 3 + 256 // <|endoftext|>, <|im_start|>, <|im_end|>, then the bytes
)

// ChatML is the tiny model's chat template.
const ChatML = "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}" +
	"{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"

// Model writes a tiny model to a directory of the test and gives its path. Equal seeds
// give equal files.
func Model(t testing.TB, seed uint64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := os.WriteFile(path, ModelBytes(seed), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ModelBytes is a tiny model's file.
func ModelBytes(seed uint64) []byte {
	w := &writer{random: rand.New(rand.NewPCG(seed, 7))}
	w.text("general.architecture", "llama")
	w.text("general.name", "Tiny")
	for _, kv := range []struct {
		key string
		n   uint32
	}{{"block_count", Layers}, {"context_length", Context}, {"embedding_length", Width}, {"feed_forward_length", FF},
		{"attention.head_count", Heads}, {"attention.head_count_kv", KVHeads}, {"rope.dimension_count", HeadDim}} {
		w.key("llama."+kv.key, 4)
		w.meta = binary.LittleEndian.AppendUint32(w.meta, kv.n)
	}
	w.key("llama.attention.layer_norm_rms_epsilon", 6)
	w.meta = append(w.meta, 0xac, 0xc5, 0x27, 0x37) // 1e-5
	w.vocabulary()
	w.tensor("token_embd.weight", gguf.Q8_0, Width, Vocab)
	w.tensor("output_norm.weight", gguf.F32, Width)
	for i := range Layers {
		w.layer("blk." + string(rune('0'+i)) + ".")
	}
	return w.file()
}

// writer collects the parts of a GGUF file.
type writer struct {
	random        *rand.Rand
	meta, table   []byte
	data          []byte
	keys, tensors uint64
}

func (w *writer) layer(prefix string) {
	w.tensor(prefix+"attn_norm.weight", gguf.F32, Width)
	w.tensor(prefix+"attn_q.weight", gguf.Q4_1, Width, Heads*HeadDim)
	w.tensor(prefix+"attn_k.weight", gguf.Q4_1, Width, KVHeads*HeadDim)
	w.tensor(prefix+"attn_v.weight", gguf.Q4_1, Width, KVHeads*HeadDim)
	w.tensor(prefix+"attn_output.weight", gguf.Q4_1, Heads*HeadDim, Width)
	w.tensor(prefix+"ffn_norm.weight", gguf.F32, Width)
	w.tensor(prefix+"ffn_gate.weight", gguf.F16, Width, FF)
	w.tensor(prefix+"ffn_up.weight", gguf.Q4_1, Width, FF)
	w.tensor(prefix+"ffn_down.weight", gguf.Q8_0, FF, Width)
}

func (w *writer) key(name string, kind uint32) {
	w.keys++
	w.meta = str(w.meta, name)
	w.meta = binary.LittleEndian.AppendUint32(w.meta, kind)
}

func (w *writer) text(key, value string) {
	w.key(key, 8)
	w.meta = str(w.meta, value)
}

func (w *writer) array(key string, kind uint32, n int) {
	w.key(key, 9)
	w.meta = binary.LittleEndian.AppendUint32(w.meta, kind)
	w.meta = binary.LittleEndian.AppendUint64(w.meta, uint64(n))
}

// vocabulary writes a byte-level tokenizer without merges.
func (w *writer) vocabulary() {
	w.text("tokenizer.ggml.model", "gpt2")
	w.text("tokenizer.ggml.pre", "smollm")
	w.text("tokenizer.chat_template", ChatML)
	tokens := []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}
	shifted := rune(256)
	for b := range rune(256) {
		if b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae {
			tokens = append(tokens, string(b))
			continue
		}
		tokens = append(tokens, string(shifted))
		shifted++
	}
	w.array("tokenizer.ggml.tokens", 8, len(tokens))
	for _, s := range tokens {
		w.meta = str(w.meta, s)
	}
	w.array("tokenizer.ggml.token_type", 5, len(tokens))
	for i := range tokens {
		kind := uint32(1)
		if i < 3 {
			kind = 3
		}
		w.meta = binary.LittleEndian.AppendUint32(w.meta, kind)
	}
	w.array("tokenizer.ggml.merges", 8, 0)
	w.key("tokenizer.ggml.eos_token_id", 4)
	w.meta = binary.LittleEndian.AppendUint32(w.meta, 2)
}

// tensor writes random values, roughly normalised.
func (w *writer) tensor(name string, kind gguf.Type, dims ...uint64) {
	w.tensors++
	w.table = str(w.table, name)
	w.table = binary.LittleEndian.AppendUint32(w.table, uint32(len(dims)))
	n := uint64(1)
	for _, d := range dims {
		w.table = binary.LittleEndian.AppendUint64(w.table, d)
		n *= d
	}
	for len(w.data)%32 != 0 {
		w.data = append(w.data, 0)
	}
	w.table = binary.LittleEndian.AppendUint32(w.table, uint32(kind))
	w.table = binary.LittleEndian.AppendUint64(w.table, uint64(len(w.data)))
	elements, _ := kind.Block()
	for range n / elements {
		w.block(kind)
	}
}

func (w *writer) block(kind gguf.Type) {
	le := binary.LittleEndian
	switch kind {
	case gguf.F32: // a normalisation weight: 1
		w.data = le.AppendUint32(w.data, 0x3f800000)
	case gguf.F16:
		w.data = le.AppendUint16(w.data, uint16(w.random.Uint32N(2)<<15|0x2c00+w.random.Uint32N(0x800))) // ±0.06 to 0.25
	case gguf.Q8_0:
		w.data = le.AppendUint16(w.data, uint16(0x1400+w.random.Uint32N(0x400))) // about 0.001
		w.bytes(32)
	case gguf.Q4_1:
		w.data = le.AppendUint16(w.data, uint16(0x2600+w.random.Uint32N(0x200))) // about 0.026
		w.data = le.AppendUint16(w.data, 0xb200)                                 // about -0.19
		w.bytes(16)
	}
}

func (w *writer) bytes(n int) {
	for range n {
		w.data = append(w.data, byte(w.random.Uint32()))
	}
}

func (w *writer) file() []byte {
	out := append([]byte("GGUF"), 3, 0, 0, 0)
	out = binary.LittleEndian.AppendUint64(out, w.tensors)
	out = binary.LittleEndian.AppendUint64(out, w.keys)
	out = append(append(out, w.meta...), w.table...)
	for len(out)%32 != 0 {
		out = append(out, 0)
	}
	return append(out, w.data...)
}

func str(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}
