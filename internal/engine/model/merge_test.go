package model

import (
	"path/filepath"
	"slices"
	"testing"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/errs"
)

// TestMergedComputesTheAdapter: the merged file gives the logits of the base with the
// adapter, but for the rounding of the weights that it changed; and has every other tensor
// byte by byte.
func TestMergedComputesTheAdapter(t *testing.T) {
	for _, name := range []string{"llama", "llama3", "mistral", "qwen2", "qwen3", "gemma3"} {
		s, err := Open(archPath(name) + ".gguf")
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		base, m := s.(*GGUF), open(t, archPath(name)+".gguf")
		a := headAdapter(t, name, m)
		path := filepath.Join(t.TempDir(), "merged.gguf")
		if err := WriteMerged(path, base, m, a); err != nil {
			t.Fatal(err)
		}
		tokens := readGolden(t, filepath.Join("testdata", "head", name+"-lora")).tokens
		got := open(t, path)
		if got.Tied {
			t.Errorf("%s: the head is still tied", name)
		}
		want := allLogits(newStep(t, m, kernel.Float32, 2, 4), tokens, a)
		if d := distance(allLogits(newStep(t, got, kernel.Float32, 2, 4), tokens, nil), want); d > 2e-3 {
			t.Errorf("%s: relative L2 distance %.2e", name, d)
		}
		if d := distance(allLogits(newStep(t, m, kernel.Float32, 2, 4), tokens, nil), want); d < 0.05 {
			t.Errorf("%s: the base alone is as near as %.2e", name, d)
		}
		kept(t, base.File, path, m.Layers)
	}
}

// kept compares what the adapters of the head, which change q as well, leave alone.
func kept(t *testing.T, base *gguf.File, path string, layers int) {
	t.Helper()
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	same := 0
	for i := range base.Tensors {
		was := &base.Tensors[i]
		is, err := f.Tensor(was.Name)
		if err != nil {
			t.Fatal(err)
		}
		if is.Type == was.Type && slices.Equal(is.Data(), was.Data()) {
			same++
		}
	}
	if changed := len(base.Tensors) - same; changed != layers && changed != layers+1 {
		t.Errorf("%s: %d tensors changed", path, changed)
	}
	if got, want := len(f.Meta.Keys()), len(base.Meta.Keys()); got != want && got != want+1 {
		t.Errorf("%d keys of %d", got, want)
	}
}

func TestMergedRefusesAnActivatedAdapter(t *testing.T) {
	s, err := Open(archPath("llama") + ".gguf")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := open(t, archPath("llama")+".gguf")
	a := headAdapter(t, "llama", m)
	a.Invocation = []int32{3}
	if err := WriteMerged(filepath.Join(t.TempDir(), "x.gguf"), s.(*GGUF), m, a); errs.CodeOf(err) != errs.Unsupported {
		t.Errorf("got %v", err)
	}
}
