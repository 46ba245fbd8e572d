package train

import (
	"path/filepath"
	"slices"
	"testing"

	"macaron/internal/engine/kernel"
)

// TestSharingChangesNoLogprob, nor the gradients beyond the rounding of sums: however much
// is shared, in blocks of any size, on any number of threads, in both modes.
func TestSharingChangesNoLogprob(t *testing.T) {
	cases := readCases(t)
	cases = append(cases, cases[0], sloped{Tokens: cases[1].Tokens[:31], Targets: cases[1].Targets[:31*cases[1].K], K: cases[1].K, Slopes: cases[1].Slopes[:31*cases[1].K]})
	for _, name := range archNames {
		m := loadModel(t, filepath.Join(archs, name))
		a := loadAdapter(t, filepath.Join("testdata/gradients", name), m, name)
		for _, mode := range []kernel.Mode{kernel.Float32, kernel.Int8} {
			want := computeBy(t, m, a, cases, 1, Options{Mode: mode}, Backward{Way: Plain})
			for i, o := range []Options{{Mode: mode}, {Mode: mode, Least: 1}, {Mode: mode, Least: 1, Rows: 7}, {Mode: mode, Rows: 50}, {Mode: mode, Least: 1, Rows: 40, Reach: 20}} {
				got := computeBy(t, m, a, cases, 3, o, Backward{Way: []Way{Exact, Exact, Exact, Plain, Exact}[i]})
				for i := range cases {
					if !slices.Equal(got.logprobs[i], want.logprobs[i]) {
						t.Errorf("%s, %s, %+v: other log probabilities of sequence %d", name, mode, o, i)
					}
				}
				all := want.tensors()
				for tensor, g := range got.tensors() {
					if d := distance(g, all[tensor]); !(d < 2e-5) {
						t.Errorf("%s, %s, %+v: %s is off by %.2e", name, mode, o, tensor, d)
					}
				}
			}
		}
	}
}

// TestGradientsDoNotDependOnThreads: bit for bit.
func TestGradientsDoNotDependOnThreads(t *testing.T) {
	cases := readCases(t)
	m := loadModel(t, filepath.Join(archs, "gemma3"))
	a := loadAdapter(t, "testdata/gradients/gemma3", m, "gemma3")
	want := compute(t, m, a, cases, 1, Options{})
	for _, threads := range []int{2, 5} {
		if got := compute(t, m, a, cases, threads, Options{}); !slices.Equal(got.grad, want.grad) {
			t.Errorf("%d threads give other gradients", threads)
		}
	}
}
