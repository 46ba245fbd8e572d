package token_test

import (
	"strings"
	"testing"

	"macaron/internal/engine/token"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/testmodel"
	"macaron/internal/testvectors"
)

func BenchmarkLoad(b *testing.B) {
	f, err := gguf.Open(testmodel.Path(b))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for b.Loop() {
		if _, err := token.FromGGUF(f.Meta); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	tok := load(b, testmodel.Path(b))
	var text strings.Builder
	for _, g := range goldens(b) {
		text.WriteString(g.text)
	}
	prose := strings.Repeat("The quick brown fox jumps over the lazy dog, and 42 hens watch it go. ", 2000)
	for name, s := range map[string]string{"prose": prose, "random": text.String()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				tok.Encode(s, true)
			}
		})
	}
}

// BenchmarkFromJSON reads a tokenizer.json of 25 MB.
func BenchmarkFromJSON(b *testing.B) {
	f, err := gguf.Open(testvectors.Gemma.Path(b))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	files, err := token.Export(f.Meta)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(files[3].Bytes)))
	for b.Loop() {
		if _, err := token.FromJSON(files[3].Bytes); err != nil {
			b.Fatal(err)
		}
	}
}
