package model

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
)

// heads are the checkpoints that testdata/head has an adapter of the output head for:
// every architecture with its head tied to the embedding and apart.
var heads = []struct{ name, dir, arch string }{
	{"llama", "arch", "llama"}, {"llama3", "arch", "llama"}, {"mistral", "arch", "mistral"}, {"mistral-tied", "head", "mistral"},
	{"qwen2", "arch", "qwen2"}, {"qwen2-apart", "head", "qwen2"}, {"qwen3", "arch", "qwen3"}, {"qwen3-tied", "head", "qwen3"},
	{"gemma3", "arch", "gemma3"}, {"gemma3-apart", "head", "gemma3"},
}

func headAdapter(t testing.TB, name string, m *Model) *lora.Adapter {
	t.Helper()
	a, err := lora.Load(filepath.Join("testdata", "head", name+"-lora"), m.Shape(name))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestHeadEqualsPEFT(t *testing.T) {
	tied := map[string]int{}
	for _, h := range heads {
		m, g := open(t, filepath.Join("testdata", h.dir, h.name)), readGolden(t, filepath.Join("testdata", "head", h.name+"-lora"))
		if tied[fmt.Sprint(h.arch, m.Tied)]++; m.Shape("").Tied != m.Tied {
			t.Errorf("%s: the shape does not tell whether the head is tied", h.name)
		}
		s, a := newStep(t, m, kernel.Float32, 2, 4), headAdapter(t, h.name, m)
		if d := g.compare(allLogits(s, g.tokens, a), m.V); d > 2e-5 {
			t.Errorf("%s: relative L2 distance %.2e", h.name, d)
		}
		hidden := s.Forward([]Run{{Tokens: g.tokens, Pages: pageList(0, len(g.tokens)), Mix: lora.Only(a), Want: len(g.tokens)}})
		without := make([]float32, len(g.tokens)*m.V)
		if s.Logits(without, hidden, nil); g.compare(without, m.V) < 0.05 {
			t.Errorf("%s: the head's part does nothing", h.name)
		}
	}
	if len(tied) != 10 {
		t.Errorf("heads of %d kinds, want tied and apart of five architectures", len(tied))
	}
}

// TestHeadIsTheSameInAnyCompany: rows of different adapters, of mixtures and of the base,
// in any order, with one or more threads, whole or for some tokens: the same bits.
func TestHeadIsTheSameInAnyCompany(t *testing.T) {
	const name = "llama3"
	m := open(t, archPath(name))
	a := headAdapter(t, name, m)
	b, err := lora.Load(filepath.Join("testdata", "head", "llama-lora"), m.Shape("llama"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := []lora.Mix{nil, lora.Only(a), lora.Only(b), {{Adapter: a, Weight: 0.5}, {Adapter: b, Weight: -2}}}
	r := rand.New(rand.NewPCG(1, 2))
	hidden, mixes := make([]float32, 70*m.D), make([]lora.Mix, 70)
	for i := range hidden {
		hidden[i] = float32(r.NormFloat64())
	}
	for i := range mixes {
		mixes[i] = kinds[r.IntN(len(kinds))]
	}
	alone := newStep(t, m, kernel.Int8, 1, 4)
	want := make([]float32, len(mixes)*m.V)
	for i := range mixes {
		alone.Logits(want[i*m.V:][:m.V], hidden[i*m.D:][:m.D], mixes[i:i+1])
	}
	pick := []int32{127, 3, 4, 64, 5}
	for threads := 1; threads <= 3; threads++ {
		s := newStep(t, m, kernel.Int8, threads, 4)
		got := make([]float32, len(want))
		s.Logits(got, hidden, mixes)
		if !slices.Equal(got, want) {
			t.Errorf("%d threads: other bits", threads)
		}
		for i := range mixes {
			few := make([]float32, len(pick))
			s.LogitsOf(few, hidden[i*m.D:][:m.D], pick, mixes[i])
			for j, id := range pick {
				if few[j] != want[i*m.V+int(id)] {
					t.Fatalf("row %d, token %d: %v alone, %v among all", i, id, few[j], want[i*m.V+int(id)])
				}
			}
		}
	}
}
