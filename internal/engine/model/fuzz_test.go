package model

import (
	"testing"

	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/errs"
)

// FuzzLoad changes a tiny model's metadata and tensor table: loading gives a model that
// computes a step, or a coded error.
func FuzzLoad(f *testing.F) {
	raw := enginetest.ModelBytes(1)
	f.Add(uint16(30), []byte("qwen"))
	f.Add(uint16(300), []byte{0, 0, 0, 0})
	f.Add(uint16(90), []byte{255, 255})
	f.Fuzz(func(t *testing.T, at uint16, change []byte) {
		changed := append([]byte(nil), raw...)
		copy(changed[min(int(at), len(changed)):], change)
		file, err := gguf.Parse(changed)
		if err != nil {
			return // that package's own fuzzing
		}
		m, err := Load(&GGUF{file}, 1, nil)
		if err != nil {
			if errs.CodeOf(err) == errs.Internal {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		p := kernel.NewPool(1)
		defer p.Close()
		s := m.NewStep(p, m.NewArena(1, kernel.Int8))
		s.Logits(make([]float32, m.V), s.Forward([]Run{{Tokens: []int32{0, int32(m.V - 1)}, Pages: []int32{0}, Want: 1}}), nil)
	})
}
