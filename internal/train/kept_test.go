package train

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"testing"

	"macaron/internal/engine/kernel"
)

// TestResidentPrefix: at first it is response-only bit for bit, later prompts are not
// computed again until their time is over, and the drift is what changes then.
func TestResidentPrefix(t *testing.T) {
	cases := group(3, 150, 20)
	m := loadModel(t, filepath.Join(archs, "llama"))
	v := readValues(t, "llama", m)
	pool := kernel.NewPool(2)
	defer pool.Close()
	g := NewGraph(m, Alone{pool}, Options{Context: 1024})
	kept := &Kept{Refresh: 3, Drift: 1e-12}
	step := func(way Way, at float64) computed {
		a := v.adapter(t, v.vector, at)
		c := computed{layout: layoutOf(m, a)}
		c.grad = make([]float32, c.layout.Size)
		var err error
		c.found, err = g.Gradients(context.Background(), Backward{Adapter: a, Layout: c.layout, Seqs: sequences(cases), Grad: c.grad, Way: way, Kept: kept,
			Slope: func(i int, _ []float32) []float32 { return cases[i].Slopes }})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	same := func(what string, at float64, want bool) Found {
		t.Helper()
		got := step(Resident, at)
		if slices.Equal(got.grad, step(ResponseOnly, at).grad) != want {
			t.Errorf("%s: the gradient of response-only: %v, want %v", what, !want, want)
		}
		return got.found
	}
	if f := same("first", 0, true); f.Probed || f.Age != 0 {
		t.Errorf("first: %+v", f)
	}
	if f := same("an adapter later, the first interval is 1", 0.1, true); !f.Probed || f.Drift == 0 {
		t.Errorf("an adapter later: %+v", f)
	}
	kept.Drift = 1e3 // anything is small
	if f := same("another one later", 0.2, true); !f.Probed || kept.interval != 2 {
		t.Errorf("another one later: %+v, interval %d", f, kept.interval)
	}
	if f := same("within the interval", 0.3, false); f.Probed || f.Age != 1 {
		t.Errorf("within the interval: %+v", f)
	}
	if f := same("at its end", 0.4, true); !f.Probed || kept.interval != 3 {
		t.Errorf("at its end: %+v, interval %d", f, kept.interval)
	}
	if err := kept.Drop(); err != nil {
		t.Fatal(err)
	}
	if f := same("dropped", 0.5, true); f.Probed {
		t.Errorf("dropped: %+v", f)
	}
	cases = group(2, 170, 20)
	if f := same("another prompt", 0.6, true); f.Age != 0 {
		t.Errorf("another prompt: %+v", f)
	}
}

// TestSavedStateEndsTheStay: who resumes goes on with the same bits as who has saved.
func TestSavedStateEndsTheStay(t *testing.T) {
	m := loadModel(t, filepath.Join(archs, "llama"))
	pool := kernel.NewPool(2)
	defer pool.Close()
	g := NewGraph(m, Alone{pool}, Options{Context: 1024})
	one, err := New(g, m.Shape("llama"), 1024, Spec{Rank: 4, Attn: true, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	var data []Datum
	for _, c := range group(3, 150, 20) {
		targets := make([]int64, len(c.Targets))
		for i, f := range c.Targets {
			targets[i] = int64(f)
		}
		data = append(data, Datum{Tokens: c.Tokens, Inputs: map[string]Tensor{"target_tokens": {Ints: targets}, "weights": {Floats: c.Slopes}}})
	}
	loss := Loss{Name: "cross_entropy", Config: map[string]float64{"prefix_mode": float64(Resident), "prefix_drift": 1e3}}
	step := func(tr *Trainer) map[string]float64 {
		t.Helper()
		out, err := tr.ForwardBackward(context.Background(), data, loss)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tr.OptimStep(context.Background(), Adam{LearningRate: 1e-2, Beta1: 0.9, Beta2: 0.95, Eps: 1e-12}); err != nil {
			t.Fatal(err)
		}
		return out.Metrics
	}
	step(one)
	step(one)
	if age := step(one)["prefix_age:max"]; age != 1 {
		t.Errorf("the prompt is %v adapters old, not 1", age)
	}
	var saved bytes.Buffer
	if err := one.Save(&saved, ""); err != nil {
		t.Fatal(err)
	}
	c, err := ReadCheckpoint(saved.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	other, err := Resume(g, m.Shape("llama"), 1024, c, All)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		step(one)
		step(other)
	}
	if !slices.Equal(one.master, other.master) {
		t.Error("the one that resumed has other masters")
	}
}
