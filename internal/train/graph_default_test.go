package train

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"macaron/internal/engine/kernel"
	"macaron/internal/testmodel"
)

// defaultGolden is testdata/gradients/default.json; make_gradients.py says what it holds.
type defaultGolden struct {
	Sequences []sloped
	Logprobs  [][]float32
	Tensors   map[string][]float64 // norm and projections
}

// sign is an element of the script's j-th vector of 1 and -1.
func sign(i, j int) float64 {
	h := (int64(i+1)*2654435761 + int64(j+1)*40503*int64(i%8191+1)) % 4294967296
	return float64(1 - 2*(h/32768%2))
}

// project gives the norm and the projections of a tensor.
func project(g []float32, n int) []float64 {
	out := make([]float64, n)
	for i, f := range g {
		out[0] += float64(f) * float64(f)
		for j := range out[1:] {
			out[1+j] += float64(f) * sign(i, j)
		}
	}
	out[0] = math.Sqrt(out[0])
	return out
}

// off estimates the relative L2 distance of two tensors: of the projections on random
// signs the mean square is that of the norm.
func off(got, want []float64) float64 {
	sum := 0.0
	for j := range want[1:] {
		d := got[1+j] - want[1+j]
		sum += d * d
	}
	return math.Sqrt(sum/float64(len(want)-1)) / want[0]
}

// TestRealGradientsEqualPEFT: the default model, every tensor of an adapter on four of its
// layers; then the served path, by the cosine of its tensors with the exact ones.
func TestRealGradientsEqualPEFT(t *testing.T) {
	raw, err := os.ReadFile("testdata/gradients/default.json")
	if err != nil {
		t.Fatal(err)
	}
	var want defaultGolden
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	m := loadModel(t, testmodel.Path(t))
	a := loadAdapter(t, "../engine/testdata/lora-r4", m, "smollm2-135m-instruct")
	exact := compute(t, m, a, want.Sequences, 2, Options{Mode: kernel.Float32})
	worst := 0.0
	for name, g := range exact.tensors() {
		golden := want.Tensors[name]
		if len(golden) < 2 {
			t.Fatalf("the golden has no %s", name)
		}
		got := project(g, len(golden))
		d := max(off(got, golden), math.Abs(got[0]/golden[0]-1))
		if worst = max(worst, d); !(d < 1e-3) {
			t.Errorf("%s: relative L2 distance %.2e", name, d)
		}
	}
	for i, p := range exact.logprobs {
		if d := distance(p, want.Logprobs[i]); !(d < 1e-4) {
			t.Errorf("log probabilities of sequence %d are off by %.2e", i, d)
		}
	}
	t.Logf("worst of %d tensors: %.2e", len(want.Tensors), worst)
	served := compute(t, m, a, want.Sequences, 2, Options{})
	report(t, "default", served, exact, 0.99)
}

// TestServedGradients: the cosine of every tensor's gradient on the served path with the
// exact one. The tiny checkpoints have float weights, so that only keys and values are
// rounded.
func TestServedGradients(t *testing.T) {
	cases := readCases(t)
	for _, name := range archNames {
		m := loadModel(t, archs+"/"+name)
		a := loadAdapter(t, "testdata/gradients/"+name, m, name)
		exact := compute(t, m, a, cases, 2, Options{Mode: kernel.Float32})
		report(t, name, compute(t, m, a, cases, 2, Options{}), exact, 0.9999)
	}
}

// report logs the cosines and refuses a median below least.
func report(t *testing.T, name string, served, exact computed, least float64) {
	t.Helper()
	var all []float64
	want := exact.tensors()
	for tensor, g := range served.tensors() {
		all = append(all, cosine(g, want[tensor]))
	}
	slices.Sort(all)
	median := all[len(all)/2]
	t.Logf("%s: cosine of %d tensors with the exact path: least %.6f, median %.6f; of the whole gradient %.6f", name, len(all), all[0], median, cosine(served.grad, exact.grad))
	if !(median > least) {
		t.Errorf("%s: the median is %.4f", name, median)
	}
}

func cosine(a, b []float32) float64 {
	ab, aa, bb := 0.0, 0.0, 0.0
	for i, f := range a {
		x, y := float64(f), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}
