package train

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"macaron/internal/engine/kernel"
	"macaron/internal/errs"
)

// TestResponseOnlyEqualsDetached: gradients that end at prompts are PyTorch's with keys and
// values of prompts as constants.
func TestResponseOnlyEqualsDetached(t *testing.T) {
	cases := readCases(t)
	for _, name := range []string{"llama", "mistral", "qwen3", "gemma3"} {
		dir := filepath.Join("testdata/gradients", name)
		m := loadModel(t, filepath.Join(archs, name))
		a, want := loadAdapter(t, dir, m, name), readFloats(t, filepath.Join(dir, "detached.safetensors"))
		for _, o := range []Options{{Mode: kernel.Float32}, {Mode: kernel.Float32, Least: 1, Rows: 7}} {
			got := computeBy(t, m, a, cases, 2, o, Backward{Way: ResponseOnly})
			worst := 0.0
			for tensor, g := range got.tensors() {
				if worst = max(worst, distance(g, want[tensor])); len(want[tensor]) != len(g) {
					t.Fatalf("%s: the golden has no %s", name, tensor)
				}
			}
			t.Logf("%s: worst relative L2 distance %.2e", name, worst)
			if !(worst < 1e-3) {
				t.Errorf("%s: beyond 1e-3", name)
			}
		}
	}
}

// longer repeats cases until some have several pages and blocks.
func longer(cases []sloped, times int) []sloped {
	var out []sloped
	for _, c := range cases {
		prompt := slices.Repeat(cases[3].Tokens, times)
		n := len(prompt)
		none := make([]int32, n*c.K)
		for i := range none {
			none[i] = -1
		}
		out = append(out, sloped{append(prompt, c.Tokens...), append(none, c.Targets...), c.K, append(make([]float32, n*c.K), c.Slopes...)})
	}
	return out
}

// TestDiskChangesNoBit: whatever lies on disk, in all ways; nothing is left there.
func TestDiskChangesNoBit(t *testing.T) {
	cases := longer(readCases(t), 2)
	for _, name := range []string{"llama", "gemma3"} {
		m := loadModel(t, filepath.Join(archs, name))
		a := loadAdapter(t, filepath.Join("testdata/gradients", name), m, name)
		for _, way := range []Way{Exact, Plain, ResponseOnly, Resident} {
			o := Options{Least: 1, Rows: 50, Context: 1024}
			want := computeBy(t, m, a, cases, 2, o, Backward{Way: way, Kept: &Kept{}})
			for _, memory := range []int64{0, want.found.Memory.Pages + 1000} {
				o.Spill = Spill{Dir: t.TempDir(), Memory: memory}
				kept := &Kept{}
				got := computeBy(t, m, a, cases, 2, o, Backward{Way: way, Kept: kept})
				if !slices.Equal(got.grad, want.grad) || got.found.Memory.Disk == 0 {
					t.Errorf("%s, %s, %d bytes in memory: other gradients, or nothing on disk: %+v", name, way, memory, got.found.Memory)
				}
				for i := range cases {
					if !slices.Equal(got.logprobs[i], want.logprobs[i]) {
						t.Errorf("%s, %s: other log probabilities of sequence %d", name, way, i)
					}
				}
				if err := kept.Drop(); err != nil {
					t.Error(err)
				}
				if left, err := os.ReadDir(o.Spill.Dir); err != nil || len(left) > 0 {
					t.Errorf("%s, %s: %v is left, %v", name, way, left, err)
				}
			}
		}
	}
}

// fullDisk is a scratch file on a disk that has room for so many more writes.
type fullDisk struct {
	scratch
	left, open *int
}

func (f fullDisk) WriteAt(b []byte, at int64) (int, error) {
	if *f.left--; *f.left < 0 {
		return 0, syscall.ENOSPC
	}
	return f.scratch.WriteAt(b, at)
}

func (f fullDisk) Close() error {
	*f.open--
	return f.scratch.Close()
}

// TestFullDisk: is told as one, whichever write it is, and every file is closed.
func TestFullDisk(t *testing.T) {
	cases := longer(readCases(t), 1)
	m := loadModel(t, filepath.Join(archs, "llama"))
	a := loadAdapter(t, "testdata/gradients/llama", m, "llama")
	pool := kernel.NewPool(1)
	defer pool.Close()
	for _, way := range []Way{Exact, ResponseOnly, Resident} {
		for _, writes := range []int{0, 5, 25} {
			left, open := writes, 0
			g := NewGraph(m, Alone{pool}, Options{Least: 1, Rows: 50, Context: 1024, Spill: Spill{Dir: t.TempDir()}})
			g.scratch = func(dir string) (scratch, error) {
				f, err := newScratch(dir)
				open++
				return fullDisk{f, &left, &open}, err
			}
			l := layoutOf(m, a)
			_, err := g.Gradients(context.Background(), Backward{Adapter: a, Layout: l, Seqs: sequences(cases), Grad: make([]float32, l.Size), Way: way, Kept: &Kept{},
				Slope: func(i int, _ []float32) []float32 { return cases[i].Slopes }})
			if errs.CodeOf(err) != errs.StorageFull || open != 0 {
				t.Errorf("%s, full after %d writes: %v, %d files are open", way, writes, err, open)
			}
		}
	}
}

// group is answers to one prompt, the longest of so many tokens.
func group(answers, prompt, longest int) (out []sloped) {
	for i := range answers {
		n := prompt + longest - i%3*7
		c := sloped{Tokens: make([]int32, n), Targets: make([]int32, n), K: 1, Slopes: make([]float32, n)}
		for j := range n {
			c.Tokens[j], c.Targets[j] = int32(j*j%97), -1
			if j >= prompt {
				c.Tokens[j], c.Targets[j], c.Slopes[j] = int32((j*(i+3)+i)%101), int32(j%90), float32(i%4)-1.5
			}
		}
		out = append(out, c)
	}
	return out
}

// TestMemoryIsOneResponse: a larger group takes at most 1 % more at its peak, a longer
// response more.
func TestMemoryIsOneResponse(t *testing.T) {
	m := loadModel(t, filepath.Join(archs, "llama"))
	a := loadAdapter(t, "testdata/gradients/llama", m, "llama")
	peak := func(answers, longest int, spill Spill) int64 {
		o := Options{Context: 4096, Rows: 128, Spill: spill}
		return computeBy(t, m, a, group(answers, 600, longest), 1, o, Backward{Way: ResponseOnly}).found.Memory.Peak
	}
	for _, spill := range []Spill{{}, {Dir: t.TempDir()}} {
		two := peak(2, 60, spill)
		for _, answers := range []int{8, 32} {
			if more := peak(answers, 60, spill); float64(more) > 1.01*float64(two) {
				t.Errorf("on disk %v: %d answers take %d bytes, 2 take %d", spill.Dir != "", answers, more, two)
			}
		}
		if long := peak(2, 120, spill); long <= two {
			t.Errorf("a response of twice the length takes %d bytes, not more than %d", long, two)
		}
	}
}

// TestRowsShrinkWithPosition: rows times positions stay bounded, whatever is asked for once
// more.
func TestRowsShrinkWithPosition(t *testing.T) {
	by := (&Options{Rows: 256, Reach: 1024}).rowsBy()
	for _, pos := range []int{1, 1024, 1025, 5000, 65536, 1 << 24} {
		n := by.at(pos)
		if pos <= 1024 && n != 256 || pos > 1024 && n > leastRows && n*pos > 256*1024 || n < leastRows {
			t.Errorf("%d rows at position %d", n, pos)
		}
	}
	k := newPack(&stretch{lo: 1000, hi: 9000}, 8000)
	k.cut(by)
	next := 0
	for _, b := range k.blocks {
		if b.lo != next || b.hi <= b.lo || b.hi-b.lo > leastRows && (b.hi-b.lo)*(1000+b.hi) > 2*256*1024 {
			t.Fatalf("rows [%d, %d) after row %d", b.lo, b.hi, next)
		}
		next = b.hi
	}
	if next != 8000 {
		t.Errorf("%d rows of 8000", next)
	}
}
