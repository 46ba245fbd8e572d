package model

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/weights/safetensors"
)

var mixPrompt = []int32{3, 14, 15, 92, 65, 35, 89, 79, 32, 38, 46, 26}

// concatenated writes the adapter of rank r1+r2 that is the weighted sum of two: the
// rows of A one above the other, the columns of B side by side times their weights.
func concatenated(t *testing.T, dirs [2]string, weights [2]float32) string {
	t.Helper()
	var files [2]*safetensors.File
	for i, dir := range dirs {
		f, err := safetensors.Open(filepath.Join(dir, "adapter_model.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	var out []safetensors.Tensor
	for _, a := range files[0].Tensors {
		b, err := files[1].Tensor(a.Name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, joined(t, &a, b, weights))
	}
	dir := t.TempDir()
	if err := safetensors.Write(filepath.Join(dir, "adapter_model.safetensors"), out, nil); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dirs[0], "adapter_config.json"))
	if err != nil {
		t.Fatal(err)
	}
	config := strings.NewReplacer(`"r":4`, `"r":8`, `"lora_alpha":8`, `"lora_alpha":16`).Replace(string(raw))
	if err := os.WriteFile(filepath.Join(dir, "adapter_config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func joined(t *testing.T, a, b *safetensors.Tensor, weights [2]float32) safetensors.Tensor {
	t.Helper()
	x, err := a.Float32()
	if err != nil {
		t.Fatal(err)
	}
	y, err := b.Float32()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(a.Name, "lora_A") {
		return safetensors.FromFloat32(a.Name, []uint64{a.Shape[0] + b.Shape[0], a.Shape[1]}, append(x, y...))
	}
	var rows []float32
	for r := range int(a.Shape[0]) {
		for _, v := range x[r*enginetest.Rank:][:enginetest.Rank] {
			rows = append(rows, v*weights[0])
		}
		for _, v := range y[r*enginetest.Rank:][:enginetest.Rank] {
			rows = append(rows, v*weights[1])
		}
	}
	return safetensors.FromFloat32(a.Name, []uint64{a.Shape[0], 2 * enginetest.Rank}, rows)
}

// TestMixtureIsTheWeightedSum: two adapters with weights give what one adapter gives
// that was joined out of them.
func TestMixtureIsTheWeightedSum(t *testing.T) {
	m, _ := tiny(t)
	dirs, weights := [2]string{enginetest.Adapter(t, 5), enginetest.Adapter(t, 6)}, [2]float32{0.75, -0.5}
	var mix lora.Mix
	for i, dir := range dirs {
		a, err := lora.Load(dir, m.Shape(""))
		if err != nil {
			t.Fatal(err)
		}
		mix = append(mix, lora.Weighted{Adapter: a, Weight: weights[i]})
	}
	one, err := lora.Load(concatenated(t, dirs, weights), m.Shape(""))
	if err != nil {
		t.Fatal(err)
	}
	run := func(mix lora.Mix) []float32 {
		s := newStep(t, m, kernel.Float32, 2, 1)
		return slices.Clone(s.Forward([]Run{{Tokens: mixPrompt, Pages: []int32{0}, Mix: mix, Want: len(mixPrompt)}}))
	}
	want, got, base := run(lora.Only(one)), run(mix), run(nil)
	if d := distance(got, want); d > 2e-6 {
		t.Errorf("relative distance %g of the mixture from the joined adapter", d)
	}
	if d := distance(base, want); d < 0.1 {
		t.Errorf("the adapters change too little to tell: %g", d)
	}
}

// distance is the relative L2 distance of got from want.
func distance(got, want []float32) float64 {
	var diff, norm float64
	for i, w := range want {
		d := float64(got[i]) - float64(w)
		diff, norm = diff+d*d, norm+float64(w)*float64(w)
	}
	return math.Sqrt(diff / norm)
}

// TestMixturesDoNotDependOnTheirCompany: sequences with the base, one adapter, and two
// mixtures that differ in a weight only, together and alone.
func TestMixturesDoNotDependOnTheirCompany(t *testing.T) {
	m, adapters := tiny(t)
	a, b := adapters[1], adapters[2]
	mixes := []lora.Mix{nil, lora.Only(a), {{Adapter: a, Weight: 0.5}, {Adapter: b, Weight: 0.25}}, {{Adapter: a, Weight: 0.5}, {Adapter: b, Weight: 0.75}}, {{Adapter: b, Weight: 1}}}
	for _, mode := range []kernel.Mode{kernel.Int8, kernel.Float32} {
		var runs []Run
		var want []float32
		for i, mix := range mixes {
			r := Run{Tokens: mixPrompt[i:], Pages: []int32{int32(i)}, Mix: mix, Want: 1}
			runs = append(runs, r)
			r.Pages = []int32{0}
			want = append(want, newStep(t, m, mode, 1, 1).Forward([]Run{r})...)
		}
		for _, threads := range []int{1, 3} {
			if got := newStep(t, m, mode, threads, len(mixes)).Forward(runs); !slices.Equal(got, want) {
				t.Errorf("%s, %d threads: other bits in company", mode, threads)
			}
		}
	}
}

// TestRunsOfOneSequenceFollowEachOther: the first tokens on the base and the rest with an
// adapter, in one step, give what two steps give, and change with either part.
func TestRunsOfOneSequenceFollowEachOther(t *testing.T) {
	m, adapters := tiny(t)
	tokens := slices.Repeat(mixPrompt, 12) // three pages
	pages := []int32{0, 1, 2}
	for _, mode := range []kernel.Mode{kernel.Int8, kernel.Float32} {
		for _, cut := range []int{1, 63, 64, 70, 143} {
			head := Run{Tokens: tokens[:cut], Pages: pages, Want: 1}
			tail := Run{Tokens: tokens[cut:], Pos: cut, Pages: pages, Mix: lora.Only(adapters[1]), Want: 1}
			s := newStep(t, m, mode, 2, 3)
			want := append(slices.Clone(s.Forward([]Run{head})), slices.Clone(s.Forward([]Run{tail}))...)
			if got := newStep(t, m, mode, 2, 3).Forward([]Run{head, tail}); !slices.Equal(got, want) {
				t.Errorf("%s, cut at %d: one step and two differ", mode, cut)
			}
			got := slices.Clone(newStep(t, m, mode, 2, 3).Forward([]Run{tail, head})) // the order of a scheduler that sorts
			if !slices.Equal(got[m.D:], want[:m.D]) || !slices.Equal(got[:m.D], want[m.D:]) {
				t.Errorf("%s, cut at %d: the order of the runs matters", mode, cut)
			}
			whole := Run{Tokens: tokens, Pages: pages, Mix: lora.Only(adapters[1]), Want: 1}
			if slices.Equal(newStep(t, m, mode, 2, 3).Forward([]Run{whole}), want[m.D:]) {
				t.Errorf("%s, cut at %d: the head's adapter does not matter", mode, cut)
			}
		}
	}
}
