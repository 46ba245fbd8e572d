package model

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/weights/safetensors"
)

// archs are the tiny checkpoints in testdata/arch; make_arch_goldens.py says what each
// is for. Those without a GGUF file are not computed by the program that converts.
var archs = map[string]struct{ gguf bool }{
	"llama": {true}, "llama3": {true}, "mistral": {true}, "qwen2": {true}, "qwen2-window": {false}, "qwen3": {true}, "gemma3": {true},
}

func archPath(name string) string { return filepath.Join("testdata", "arch", name) }

func open(t testing.TB, path string) *Model {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m, err := Load(s, 2, nil)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return m
}

// golden is what transformers computed for a checkpoint.
type golden struct {
	tokens, rows []int32
	logits       []float32 // [rows, v]
}

func readGolden(t testing.TB, dir string) golden {
	t.Helper()
	f, err := safetensors.Open(filepath.Join(dir, "golden.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ints := func(name string) (out []int32) {
		x, err := f.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		for raw := x.Data; len(raw) > 0; raw = raw[4:] {
			out = append(out, int32(binary.LittleEndian.Uint32(raw)))
		}
		return out
	}
	x, err := f.Tensor("logits")
	if err != nil {
		t.Fatal(err)
	}
	logits, err := x.Float32()
	if err != nil || len(logits) == 0 {
		t.Fatal(err)
	}
	return golden{ints("tokens"), ints("rows"), logits}
}

// compare gives the worst distance over a golden's rows.
func (g golden) compare(logits []float32, v int) float64 {
	worst := 0.0
	for i, row := range g.rows {
		worst = max(worst, distance(logits[int(row)*v:][:v], g.logits[i*v:][:v]))
	}
	return worst
}

func TestArchitecturesEqualTransformers(t *testing.T) {
	for name := range archs {
		m, g := open(t, archPath(name)), readGolden(t, archPath(name))
		got := allLogits(newStep(t, m, kernel.Float32, 2, 4), g.tokens, nil)
		if d := g.compare(got, m.V); d > 2e-5 {
			t.Errorf("%s: relative L2 distance %.2e", name, d)
		} else {
			t.Logf("%s: relative L2 distance %.2e", name, d)
		}
	}
}

// TestServedPathIsNear: activations are still floats where weights are; keys and values
// are rounded to half precision.
func TestServedPathIsNear(t *testing.T) {
	for name := range archs {
		m, g := open(t, archPath(name)), readGolden(t, archPath(name))
		got := allLogits(newStep(t, m, kernel.Int8, 2, 4), g.tokens, nil)
		if d := g.compare(got, m.V); d > 3e-3 {
			t.Errorf("%s: relative L2 distance %.2e", name, d)
		}
	}
}

// TestGGUFEqualsDirectory: the converter's names, order of rows and normalisations come
// out as the checkpoint's.
func TestGGUFEqualsDirectory(t *testing.T) {
	for name, a := range archs {
		if !a.gguf {
			continue
		}
		dir := archPath(name)
		switch name { // what this converter does not write
		case "gemma3": // the programs that read it take the head's width
			dir = changed(t, dir, map[string]any{"query_pre_attn_scalar": 32})
		case "mistral":
			dir = changed(t, dir, map[string]any{"sliding_window": nil})
		}
		g := readGolden(t, archPath(name))
		want := allLogits(newStep(t, open(t, dir), kernel.Float32, 2, 4), g.tokens, nil)
		m := open(t, archPath(name)+".gguf")
		got := allLogits(newStep(t, m, kernel.Float32, 2, 4), g.tokens, nil)
		if d := distance(got, want); d > 2e-6 {
			t.Errorf("%s: relative L2 distance %.2e", name, d)
		}
	}
}

func TestAdapterEqualsPEFT(t *testing.T) {
	m, g := open(t, archPath("qwen3")), readGolden(t, archPath("qwen3-lora"))
	a, err := lora.Load(archPath("qwen3-lora"), m.Shape("qwen3"))
	if err != nil {
		t.Fatal(err)
	}
	s := newStep(t, m, kernel.Float32, 2, 4)
	if d := g.compare(allLogits(s, g.tokens, a), m.V); d > 2e-5 {
		t.Errorf("relative L2 distance %.2e", d)
	}
	if d := g.compare(allLogits(s, g.tokens, nil), m.V); d < 0.1 {
		t.Errorf("the base alone is as near as %.2e: the adapter does nothing", d)
	}
}

// changed copies a checkpoint with other fields in its config.json; nil removes one.
func changed(t testing.TB, dir string, fields map[string]any) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(dir))
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(to, "config.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := json.Unmarshal(raw, &config); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if config[name] = fields[name]; fields[name] == nil {
			delete(config, name)
		}
	}
	if raw, err = json.Marshal(config); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}
