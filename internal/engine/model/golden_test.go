package model

import (
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
	"macaron/internal/testmodel"
)

const testdata = "../testdata"

// goldens is testdata/goldens.json; make_goldens.py says what it holds.
type goldens struct {
	Stride  int
	Prompts map[string][]int32
	Rows    []struct {
		Prompt, Adapter  string
		Position, Argmax int
		Norm             float64
	}
	LlamaCpp struct {
		MeanKL    float64 `json:"mean_kl"`
		Top1      float64
		Positions int
	} `json:"llama_cpp"`
	logits [][]float32 // every Stride-th logit of each row
}

func readGoldens(t *testing.T, vocab int) goldens {
	return readGoldensFrom(t, filepath.Join(testdata, "goldens.json"), filepath.Join(testdata, "logits.f32.gz"), vocab)
}

func readGoldensFrom(t *testing.T, text, logits string, vocab int) goldens {
	t.Helper()
	raw, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	var g goldens
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(logits)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	per := (vocab + g.Stride - 1) / g.Stride
	if len(all) != 4*per*len(g.Rows) || len(g.Rows) == 0 {
		t.Fatalf("%d bytes of logits for %d rows", len(all), len(g.Rows))
	}
	for range g.Rows {
		row := make([]float32, per)
		for i := range row {
			row[i] = math.Float32frombits(binary.LittleEndian.Uint32(all[4*i:]))
		}
		g.logits, all = append(g.logits, row), all[4*per:]
	}
	return g
}

// testModel loads the default model once for all tests of the package.
var testModel = sync.OnceValues(func() (*Model, error) {
	f, err := Open(modelPath)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Load(f, runtime.NumCPU(), nil)
})

var modelPath string

func loaded(t testing.TB) *Model {
	t.Helper()
	modelPath = testmodel.Path(t)
	m, err := testModel()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// newStep is a step with pages of its own.
func newStep(t testing.TB, m *Model, mode kernel.Mode, threads, pages int) *Step {
	p := kernel.NewPool(threads)
	t.Cleanup(p.Close)
	return m.NewStep(p, m.NewArena(pages, mode))
}

// allLogits gives the logits [n, v] of every position of a prompt, computed in one step.
func allLogits(s *Step, prompt []int32, a *lora.Adapter) []float32 {
	h := s.Forward([]Run{{Tokens: prompt, Pages: pageList(0, len(prompt)), Mix: lora.Only(a), Want: len(prompt)}})
	out := make([]float32, len(prompt)*s.m.V)
	mixes := make([]lora.Mix, len(prompt))
	for i := range mixes {
		mixes[i] = lora.Only(a)
	}
	s.Logits(out, h, mixes)
	return out
}

// exact holds the base's logits of the float32 path by prompt, which two tests need.
var exact = map[string][]float32{}

func exactLogits(t testing.TB, m *Model, g goldens, prompt string) []float32 {
	if exact[prompt] == nil {
		exact[prompt] = allLogits(newStep(t, m, kernel.Float32, 2, 8), g.Prompts[prompt], nil)
	}
	return exact[prompt]
}

func pageList(first, tokens int) []int32 {
	var pages []int32
	for i := 0; i < (tokens+kernel.PageTokens-1)/kernel.PageTokens; i++ {
		pages = append(pages, int32(first+i))
	}
	return pages
}

// TestFloat32EqualsTransformers: relative L2 distance per row, base and adapters.
func TestFloat32EqualsTransformers(t *testing.T) {
	m := loaded(t)
	g := readGoldens(t, m.V)
	s := newStep(t, m, kernel.Float32, 2, 8)
	adapters := map[string]*lora.Adapter{"": nil}
	got := map[[2]string][]float32{}
	worst := map[string]float64{}
	for i, r := range g.Rows {
		if _, ok := adapters[r.Adapter]; !ok {
			a, err := lora.Load(filepath.Join(testdata, r.Adapter), m.Shape("smollm2-135m-instruct"))
			if err != nil {
				t.Fatal(err)
			}
			adapters[r.Adapter] = a
		}
		key := [2]string{r.Prompt, r.Adapter}
		if got[key] == nil && r.Adapter == "" {
			got[key] = exactLogits(t, m, g, r.Prompt)
		} else if got[key] == nil {
			got[key] = allLogits(s, g.Prompts[r.Prompt], adapters[r.Adapter])
		}
		worst[r.Adapter] = max(worst[r.Adapter], g.check(t, i, got[key][r.Position*m.V:][:m.V]))
	}
	t.Logf("worst relative L2 by adapter: %v", worst)
}

// check compares a row of logits with the i-th golden and gives their relative L2
// distance.
func (g *goldens) check(t *testing.T, i int, row []float32) float64 {
	r, strided := g.Rows[i], []float32(nil)
	for j := 0; j < len(row); j += g.Stride {
		strided = append(strided, row[j])
	}
	rel := distance(strided, g.logits[i])
	if rel > 1e-3 || math.Abs(float64(kernel.LogSumExp(row))-r.Norm) > 2e-3 || kernel.ArgMax(row) != r.Argmax {
		t.Errorf("%s with adapter %q, position %d: relative L2 %.2e, norm %v (want %v), likeliest %d (want %d)",
			r.Prompt, r.Adapter, r.Position, rel, kernel.LogSumExp(row), r.Norm, kernel.ArgMax(row), r.Argmax)
	}
	return rel
}
