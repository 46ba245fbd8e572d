package train

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
)

// shape is a made-up base of two layers.
func shape() lora.Shape {
	return lora.Shape{Layers: 2, HeadDim: 16, Vocab: 40, Tied: true, In: [lora.Targets]int{32, 32, 32, 32, 32, 32, 64}, Out: [lora.Targets]int{32, 16, 16, 32, 64, 64, 32}}
}

// TestMain lends all tests one pool.
func TestMain(m *testing.M) {
	pool = kernel.NewPool(2)
	code := m.Run()
	pool.Close()
	os.Exit(code)
}

var pool *kernel.Pool

func (scripted) Do(ctx context.Context, piece func(*kernel.Pool)) error {
	return Alone{pool}.Do(ctx, piece)
}

// scripted are passes of a model whose log probabilities are all -1 and whose gradient of
// each of them is the same vector.
type scripted struct {
	gradient float32
	fail     error
}

func (s scripted) Logprobs(_ context.Context, _ *lora.Adapter, seqs []Sequence) ([][]float32, error) {
	out := make([][]float32, len(seqs))
	for i, q := range seqs {
		out[i] = slices.Repeat([]float32{-1}, len(q.Targets))
	}
	return out, s.fail
}

func (s scripted) Gradients(ctx context.Context, b Backward) (Found, error) {
	all, _ := s.Logprobs(ctx, b.Adapter, b.Seqs)
	for i := range b.Seqs {
		for _, d := range b.Slope(i, all[i]) {
			for j := range b.Grad {
				b.Grad[j] += d * s.gradient * float32(1+j%7)
			}
		}
	}
	return Found{}, s.fail
}

func newTrainer(t testing.TB, p Passes, s Spec) *Trainer {
	t.Helper()
	tr, err := New(p, shape(), 64, s)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func datum(weight float32) Datum {
	return Datum{Tokens: []int32{1, 2}, Inputs: map[string]Tensor{"target_tokens": {Ints: []int64{2, 3}}, "weights": {Floats: []float32{weight, 0.3}}}}
}

var (
	everything = Spec{Rank: 4, Seed: 7, Attn: true, MLP: true, Unembed: true}
	ce         = Loss{Name: "cross_entropy"}
)

func hash(t testing.TB, tr *Trainer) string {
	t.Helper()
	a, err := tr.Adapter()
	if err != nil {
		t.Fatal(err)
	}
	return string(a.Revision.Hash)
}

// TestFirstValues: of one seed the same, of another other ones; B is zero and A within
// its bound. The hash pins the generator.
func TestFirstValues(t *testing.T) {
	a := newTrainer(t, scripted{}, everything)
	if got := hash(t, a); got != hash(t, newTrainer(t, scripted{}, everything)) || got != "sha256:3ca3fd4e6d6b941672c471fb2c51bc88bab72d5f9d4b2fa567efba30c85ef98d" {
		t.Errorf("the first revision is %s", got)
	}
	other := everything
	other.Seed++
	if hash(t, newTrainer(t, scripted{}, other)) == hash(t, a) {
		t.Error("another seed gives the same values")
	}
	if len(a.layout.Modules) != 2*7+1 {
		t.Errorf("%d modules", len(a.layout.Modules))
	}
	for _, m := range a.layout.Modules {
		pa, pb := a.layout.Parts(m, a.master)
		bound := float32(1 / math.Sqrt(float64(m.In)))
		if top := slices.Max(pa); top > bound || top < bound/2 || slices.Min(pa) < -bound || slices.Max(pb) != 0 || slices.Min(pb) != 0 {
			t.Errorf("%s of layer %d: up to %v, the bound is %v", m.Target, m.Layer, top, bound)
		}
	}
}

// TestTheServedRevisionIsTheExport: one hash, in memory and as a PEFT directory.
func TestTheServedRevisionIsTheExport(t *testing.T) {
	for _, s := range []Spec{everything, {Rank: 2, Seed: 1, Targets: []string{"q_proj", "down_proj"}, Alpha: 8, RsLoRA: true}} {
		tr := newTrainer(t, scripted{gradient: 1}, s)
		advance(t, tr, 2)
		dir := filepath.Join(t.TempDir(), "out")
		if err := tr.Export(dir); err != nil {
			t.Fatal(err)
		}
		a, err := lora.Load(dir, shape())
		if err != nil {
			t.Fatal(err)
		}
		served, err := tr.Adapter()
		if err != nil || a.Revision.Hash != served.Revision.Hash || a.Key != served.Key || a.Scale != served.Scale {
			t.Errorf("%+v, served %+v, %v", a.Revision, served.Revision, err)
		}
	}
}

func advance(t testing.TB, tr *Trainer, steps int) {
	t.Helper()
	for i := range steps {
		if _, err := tr.ForwardBackward(t.Context(), []Datum{datum(1 + float32(i))}, ce); err != nil {
			t.Fatal(err)
		}
		if _, err := tr.OptimStep(t.Context(), DefaultAdam); err != nil {
			t.Fatal(err)
		}
	}
}

// TestForwardTouchesNoGradient, and neither does a pass that fails.
func TestForwardTouchesNoGradient(t *testing.T) {
	run := func(between func(*Trainer)) string {
		tr := newTrainer(t, scripted{gradient: 1}, everything)
		between(tr)
		if _, err := tr.ForwardBackward(t.Context(), []Datum{datum(1)}, ce); err != nil {
			t.Fatal(err)
		}
		between(tr)
		if _, err := tr.OptimStep(t.Context(), DefaultAdam); err != nil {
			t.Fatal(err)
		}
		return hash(t, tr)
	}
	plain := run(func(*Trainer) {})
	if got := run(func(tr *Trainer) {
		out, err := tr.Forward(t.Context(), []Datum{datum(5)}, ce)
		if err != nil || out.Metrics["loss:sum"] != float64(float32(5))+float64(float32(0.3)) || out.Logprobs[0].Floats[1] != -1 {
			t.Errorf("%+v, %v", out, err)
		}
	}); got != plain {
		t.Error("a forward pass changed the step")
	}
	if got := run(func(tr *Trainer) {
		was := tr.passes
		tr.passes = scripted{gradient: 3, fail: errors.New("broken")}
		if _, err := tr.ForwardBackward(t.Context(), []Datum{datum(1)}, ce); err == nil {
			t.Error("no error")
		}
		tr.passes = was
	}); got != plain {
		t.Error("a failed pass changed the step")
	}
}

// TestChunksOfOneBatch: the trainer itself adds nothing for a cut: passes that go sequence
// by sequence give the same bits in one call or several.
func TestChunksOfOneBatch(t *testing.T) {
	run := func(chunks ...[]Datum) (string, map[string]float64) {
		tr := newTrainer(t, scripted{gradient: 0.1}, everything)
		for _, c := range chunks {
			if _, err := tr.ForwardBackward(t.Context(), c, ce); err != nil {
				t.Fatal(err)
			}
		}
		m, err := tr.OptimStep(t.Context(), Adam{LearningRate: 1e-3, Beta1: 0.9, Beta2: 0.95, Eps: 1e-12, GradClipNorm: 1})
		if err != nil {
			t.Fatal(err)
		}
		return hash(t, tr), m
	}
	a, b, c := datum(0.7), datum(-1.3), datum(2.1)
	whole, m := run([]Datum{a, b, c})
	if got, _ := run([]Datum{a}, []Datum{b, c}); got != whole {
		t.Error("two chunks give another step than one")
	}
	if m["data:sum"] != 3 || m["step:max"] != 1 || m["learning_rate:mean"] != 1e-3 || m["grad_norm:mean"] == 0 {
		t.Errorf("%v", m)
	}
}

func TestRefusedSteps(t *testing.T) {
	tr := newTrainer(t, scripted{gradient: float32(math.Inf(1))}, everything)
	before := hash(t, tr)
	if _, err := tr.ForwardBackward(t.Context(), []Datum{datum(1)}, ce); err != nil {
		t.Fatal(err)
	}
	if _, err := tr.OptimStep(t.Context(), DefaultAdam); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("a gradient that is not finite: %v", err)
	}
	if tr.Steps() != 0 || hash(t, tr) != before {
		t.Error("a refused step changed the adapter")
	}
	for _, a := range []Adam{{}, {LearningRate: -1, Eps: 1}, {LearningRate: math.NaN(), Eps: 1}, {Beta1: 1, Eps: 1}, {Beta2: 1, Eps: 1}, {Eps: 1, WeightDecay: -1}, {Eps: 1, GradClipNorm: -1}} {
		if _, err := tr.OptimStep(t.Context(), a); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%+v: %v", a, err)
		}
	}
	for _, s := range []Spec{{}, {Rank: 1}, {Rank: 1 << 20, Attn: true}, {Rank: 1, Targets: []string{"c_attn"}}, {Rank: 1, Attn: true, Targets: []string{"q_proj"}}, {Rank: 1, Attn: true, Alpha: -1}} {
		if _, err := New(scripted{}, shape(), 64, s); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%+v: %v", s, err)
		}
	}
	tr.Close()
	if _, err := tr.Adapter(); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("after Close: %v", err)
	}
}
