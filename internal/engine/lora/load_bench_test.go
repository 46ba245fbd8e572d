package lora

import (
	"path/filepath"
	"testing"
)

// smol is the shape of the default model.
func smol() Shape {
	return Shape{Vocab: 49152, Layers: 30, HeadDim: 64, Tied: true, Paired: true, Arch: "llama",
		In: [Targets]int{576, 576, 576, 576, 576, 576, 1536}, Out: [Targets]int{576, 192, 192, 576, 1536, 1536, 576}}
}

// BenchmarkLoad reads and packs an adapter of rank 16 on all linear layers of the default
// model, from its PEFT directory.
func BenchmarkLoad(b *testing.B) {
	c, err := Make(smol(), Plan{Rank: 16, Alpha: 32}, random(1, 16, smol(), Q, K, V, O, Gate, Up, Down))
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(b.TempDir(), "a")
	if err := c.WritePEFT(dir); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(c.Revision().Bytes)
	for b.Loop() {
		if _, err := Load(dir, smol()); err != nil {
			b.Fatal(err)
		}
	}
}
