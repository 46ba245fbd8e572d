package model

import (
	"math"
	"testing"

	"macaron/internal/engine/kernel"
)

// TestInt8IsNoWorseThanLlamaCpp: mean KL divergence of the served path from the exact
// one, and how often the likeliest token is the same, over every position of the golden
// prompts; llama.cpp's figures on the same prompts were taken by make_goldens.py.
func TestInt8IsNoWorseThanLlamaCpp(t *testing.T) {
	m := loaded(t)
	g := readGoldens(t, m.V)
	served := newStep(t, m, kernel.Int8, 2, 8)
	var sum, worst float64
	var same, n int
	for name, prompt := range g.Prompts {
		want, got := exactLogits(t, m, g, name), allLogits(served, prompt, nil)
		for i := range prompt {
			p, q := want[i*m.V:][:m.V], got[i*m.V:][:m.V]
			kl := divergence(p, q)
			sum, worst, n = sum+kl, max(worst, kl), n+1
			if kernel.ArgMax(p) == kernel.ArgMax(q) {
				same++
			}
		}
	}
	mean, top1 := sum/float64(n), float64(same)/float64(n)
	t.Logf("%d positions: mean KL %.5f, worst %.4f, likeliest token the same %.2f %% (llama.cpp: %.5f, %.2f %%)", n, mean, worst, 100*top1, g.LlamaCpp.MeanKL, 100*g.LlamaCpp.Top1)
	if n != g.LlamaCpp.Positions || mean > g.LlamaCpp.MeanKL {
		t.Errorf("mean KL %.5f over %d positions; llama.cpp has %.5f over %d", mean, n, g.LlamaCpp.MeanKL, g.LlamaCpp.Positions)
	}
	// the standard error of a share near 0.96 over these positions is 0.8 points
	if top1 < g.LlamaCpp.Top1-0.008 {
		t.Errorf("the likeliest token is the same in %.4f of the positions; llama.cpp: %.4f", top1, g.LlamaCpp.Top1)
	}
}

// divergence is the KL divergence of softmax(q) from softmax(p).
func divergence(p, q []float32) float64 {
	lp, lq := norm(p), norm(q)
	sum := 0.0
	for i := range p {
		a, b := float64(p[i])-lp, float64(q[i])-lq
		sum += math.Exp(a) * (a - b)
	}
	return sum
}

func norm(x []float32) float64 {
	top := float64(x[kernel.ArgMax(x)])
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(float64(v) - top)
	}
	return top + math.Log(sum)
}
