package engine

import (
	"path/filepath"
	"slices"
	"testing"

	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/errs"
)

// TestGGUFAdaptersAreTheConverters: tensors and metadata that llama.cpp's converter made of
// the same PEFT directories, but for the name.
func TestGGUFAdaptersAreTheConverters(t *testing.T) {
	e := open(t, filepath.Join(tinyData, "model.gguf"), nil)
	for _, name := range []string{"a", "activated"} {
		c, err := lora.Open(filepath.Join(tinyData, name))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		path := filepath.Join(t.TempDir(), "a.gguf")
		if err := c.WriteGGUF(path, e.model.Shape("tiny")); err != nil {
			t.Fatal(err)
		}
		got, want := openGGUF(t, path), openGGUF(t, filepath.Join(tinyData, name+".gguf"))
		if len(got.Tensors) != len(want.Tensors) {
			t.Errorf("%d tensors, want %d", len(got.Tensors), len(want.Tensors))
		}
		for i := range want.Tensors {
			w := &want.Tensors[i]
			g, err := got.Tensor(w.Name)
			if err != nil {
				t.Fatal(err)
			}
			if g.Type != w.Type || !slices.Equal(g.Dims, w.Dims) || !slices.Equal(g.Data(), w.Data()) {
				t.Errorf("%s: %s differs", name, w.Name)
			}
		}
		for _, key := range []string{"general.architecture", "general.type", "adapter.type"} {
			g, err := got.Meta.String(key)
			w, werr := want.Meta.String(key)
			if err != nil || werr != nil || g != w {
				t.Errorf("%s is %q, want %q (%v, %v)", key, g, w, err, werr)
			}
		}
		again, err := lora.Inspect(path)
		if theirs, terr := lora.Inspect(filepath.Join(tinyData, name+".gguf")); err != nil || terr != nil || again.Hash != theirs.Hash {
			t.Errorf("%s: %v, %v: another revision", name, err, terr)
		}
	}
}

func openGGUF(t *testing.T, path string) *gguf.File {
	t.Helper()
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// TestGGUFRefusesWhatItCannotSay: the head of a base that ties it, another base, a GGUF
// file.
func TestGGUFRefusesWhatItCannotSay(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), nil)
	shape := e.model.Shape("")
	values := make([]float32, 2*shape.Vocab)
	c, err := lora.Make(shape, lora.Plan{Rank: 2, Alpha: 1}, []lora.Values{{Target: lora.Head, A: values[:2*shape.In[lora.Q]], B: values}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.gguf")
	if err := c.WriteGGUF(path, shape); errs.CodeOf(err) != errs.Unsupported || !shape.Tied {
		t.Errorf("a tied head: %v", err)
	}
	shape.Tied = false
	if err := c.WriteGGUF(path, shape); err != nil {
		t.Errorf("a head apart: %v", err)
	}
	if a, err := lora.Load(path, shape); err != nil || a.At(0, lora.Head) == nil {
		t.Errorf("read again: %v", err)
	}
	shape.Vocab--
	if err := c.WriteGGUF(path, shape); errs.CodeOf(err) != errs.FormatInvalid {
		t.Errorf("another base: %v", err)
	}
	file, err := lora.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.WriteGGUF(path+"2", shape); errs.CodeOf(err) != errs.Unsupported {
		t.Errorf("a GGUF file: %v", err)
	}
}
