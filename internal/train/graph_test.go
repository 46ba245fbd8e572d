package train

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/model"
	"macaron/internal/engine/weights/safetensors"
)

const archs = "../engine/model/testdata/arch"

// archNames are the checkpoints that make_gradients.py has adapters for.
var archNames = []string{"llama", "llama3", "mistral", "qwen2", "qwen2-window", "qwen3", "gemma3"}

// sloped is a sequence with the slopes of its log probabilities.
type sloped struct {
	Tokens, Targets []int32
	K               int
	Slopes          []float32
}

func readCases(t testing.TB) []sloped {
	t.Helper()
	raw, err := os.ReadFile("testdata/gradients/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var out []sloped
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func sequences(cases []sloped) (out []Sequence) {
	for _, c := range cases {
		prompt := 0
		for prompt < len(c.Tokens) && !slices.ContainsFunc(c.Slopes[prompt*c.K:][:c.K], func(f float32) bool { return f != 0 }) {
			prompt++
		}
		out = append(out, Sequence{Tokens: c.Tokens, Targets: c.Targets, K: c.K, Prompt: prompt})
	}
	return out
}

func loadModel(t testing.TB, path string) *model.Model {
	t.Helper()
	s, err := model.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m, err := model.Load(s, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func loadAdapter(t testing.TB, path string, m *model.Model, name string) *lora.Adapter {
	t.Helper()
	a, err := lora.Load(path, m.Shape(name))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// layoutOf has all modules of an adapter.
func layoutOf(m *model.Model, a *lora.Adapter) *Layout {
	l, shape := &Layout{Rank: a.Rank()}, m.Shape("")
	for layer := range m.Layers {
		for of := range lora.Targets {
			if a.At(layer, of) != nil {
				l.add(layer, of, shape)
			}
		}
	}
	if a.At(0, lora.Head) != nil {
		l.add(0, lora.Head, shape)
	}
	return l
}

// computed is what a graph finds for cases.
type computed struct {
	logprobs [][]float32
	layout   *Layout
	grad     []float32
	found    Found
}

func compute(t testing.TB, m *model.Model, a *lora.Adapter, cases []sloped, threads int, o Options) computed {
	t.Helper()
	return computeBy(t, m, a, cases, threads, o, Backward{})
}

// computeBy is compute in another way; b has what else is to be set.
func computeBy(t testing.TB, m *model.Model, a *lora.Adapter, cases []sloped, threads int, o Options, b Backward) computed {
	t.Helper()
	pool := kernel.NewPool(threads)
	defer pool.Close()
	c := computed{logprobs: make([][]float32, len(cases)), layout: layoutOf(m, a)}
	c.grad = make([]float32, c.layout.Size)
	b.Adapter, b.Layout, b.Seqs, b.Grad = a, c.layout, sequences(cases), c.grad
	b.Slope = func(i int, p []float32) []float32 {
		c.logprobs[i] = slices.Clone(p)
		return cases[i].Slopes
	}
	var err error
	if c.found, err = NewGraph(m, Alone{pool}, o).Gradients(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	return c
}

// tensorName is what PEFT calls A or B of a module.
func tensorName(m Module, half string) string {
	if m.Target == lora.Head {
		return "base_model.model.lm_head.lora_" + half + ".weight"
	}
	part := []string{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}[m.Target]
	return fmt.Sprintf("base_model.model.model.layers.%d.%s.lora_%s.weight", m.Layer, part, half)
}

// tensors are the parts of a gradient by name.
func (c *computed) tensors() map[string][]float32 {
	out := map[string][]float32{}
	for _, m := range c.layout.Modules {
		a, b := tensorName(m, "A"), tensorName(m, "B")
		out[a], out[b] = c.layout.Parts(m, c.grad)
	}
	return out
}

func readFloats(t testing.TB, path string) map[string][]float32 {
	t.Helper()
	f, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string][]float32{}
	for i := range f.Tensors {
		if out[f.Tensors[i].Name], err = f.Tensors[i].Float32(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// distance is |a-b|/|b|.
func distance(a, b []float32) float64 {
	diff, norm := 0.0, 0.0
	for i, f := range b {
		d := float64(a[i]) - float64(f)
		diff, norm = diff+d*d, norm+float64(f)*float64(f)
	}
	return math.Sqrt(diff / norm)
}

// TestGradientsEqualPEFT: every tensor of every architecture, in single precision.
func TestGradientsEqualPEFT(t *testing.T) {
	cases := readCases(t)
	for _, name := range archNames {
		dir := filepath.Join("testdata/gradients", name)
		m := loadModel(t, filepath.Join(archs, name))
		got := compute(t, m, loadAdapter(t, dir, m, name), cases, 2, Options{Mode: kernel.Float32})
		want := readFloats(t, filepath.Join(dir, "golden.safetensors"))
		worst, worstOf := 0.0, ""
		for tensor, g := range got.tensors() {
			if len(want[tensor]) != len(g) || len(g) == 0 {
				t.Fatalf("%s: %s has %d values, not %d", name, tensor, len(g), len(want[tensor]))
			}
			if d := distance(g, want[tensor]); !(d <= worst) {
				worst, worstOf = d, tensor
			}
		}
		for i, p := range got.logprobs {
			if d := distance(p, want[fmt.Sprint("logprobs.", i)]); !(d < 1e-4) {
				t.Errorf("%s: log probabilities of sequence %d are off by %.2e", name, i, d)
			}
		}
		t.Logf("%s: worst relative L2 distance of %d tensors %.2e, of %s", name, len(got.layout.Modules)*2, worst, worstOf)
		if !(worst < 1e-3) {
			t.Errorf("%s: beyond 1e-3", name)
		}
	}
}
