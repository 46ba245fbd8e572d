package train

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/model"
	"macaron/internal/engine/weights/safetensors"
)

// values are the tensors of an adapter file, which can be moved in single precision.
type values struct {
	name   string
	layout *Layout
	vector []float32
	shape  lora.Shape
}

// readValues takes the tensors of an adapter file.
func readValues(t testing.TB, name string, m *model.Model) *values {
	dir := filepath.Join("testdata/gradients", name)
	a := loadAdapter(t, dir, m, name)
	v := &values{name: name, layout: layoutOf(m, a), shape: m.Shape(name)}
	v.vector = make([]float32, v.layout.Size)
	all := readFloats(t, filepath.Join(dir, "adapter_model.safetensors"))
	for _, module := range v.layout.Modules {
		a, b := v.layout.Parts(module, v.vector)
		copy(a, all[tensorName(module, "A")])
		copy(b, all[tensorName(module, "B")])
	}
	return v
}

// adapter is the one at a place, step along a direction away.
func (v *values) adapter(t testing.TB, direction []float32, step float64) *lora.Adapter {
	moved := make([]float32, len(v.vector))
	for i, f := range v.vector {
		moved[i] = float32(float64(f) + step*float64(direction[i]))
	}
	var tensors []safetensors.Tensor
	for _, m := range v.layout.Modules {
		a, b := v.layout.Parts(m, moved)
		tensors = append(tensors,
			safetensors.FromFloat32(tensorName(m, "A"), []uint64{uint64(v.layout.Rank), uint64(m.In)}, a),
			safetensors.FromFloat32(tensorName(m, "B"), []uint64{uint64(m.Out), uint64(v.layout.Rank)}, b))
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata/gradients", v.name))); err != nil {
		t.Fatal(err)
	}
	if err := safetensors.Write(filepath.Join(dir, "adapter_model.safetensors"), tensors, nil); err != nil {
		t.Fatal(err)
	}
	out, err := lora.Load(dir, v.shape)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestGradientsAgainstDifferences: along random directions within every tensor of every
// architecture, the gradient is the central difference of the loss.
func TestGradientsAgainstDifferences(t *testing.T) {
	cases := readCases(t)
	random := rand.New(rand.NewPCG(5, 6))
	for _, name := range archNames {
		m := loadModel(t, filepath.Join(archs, name))
		v := readValues(t, name, m)
		pool := kernel.NewPool(2)
		g := NewGraph(m, Alone{pool}, Options{Mode: kernel.Float32})
		loss := func(a *lora.Adapter) (sum float64) {
			all, err := g.Logprobs(context.Background(), a, sequences(cases))
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range cases {
				for j, p := range all[i] {
					sum += float64(p) * float64(c.Slopes[j])
				}
			}
			return sum
		}
		here := compute(t, m, v.adapter(t, v.vector, 0), cases, 2, Options{Mode: kernel.Float32})
		worst := 0.0
		for _, module := range v.layout.Modules {
			for half := range 2 {
				direction := make([]float32, v.layout.Size)
				a, b := v.layout.Parts(module, direction)
				of := [][]float32{a, b}[half]
				for i := range of {
					of[i] = float32(random.NormFloat64())
				}
				want, size := 0.0, 0.0
				for i, d := range direction {
					want += float64(d) * float64(here.grad[i])
					size += float64(here.grad[i]) * float64(here.grad[i]) * float64(d) * float64(d)
				}
				const step = 1e-3
				got := (loss(v.adapter(t, direction, step)) - loss(v.adapter(t, direction, -step))) / (2 * step)
				worst = max(worst, math.Abs(got-want)/math.Sqrt(size))
			}
		}
		pool.Close()
		t.Logf("%s: worst %.2e", name, worst)
		if !(worst < 2e-2) {
			t.Errorf("%s: a difference is off by %.2e of the gradient", name, worst)
		}
	}
}
