package train

import (
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
