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
	var q quality
	for name, prompt := range g.Prompts {
		q.add(exactLogits(t, m, g, name), allLogits(served, prompt, nil), m.V)
	}
	q.check(t, g)
}

// quality is how far the served path is from the exact one.
type quality struct {
	sum, worst float64 // of the KL divergence
	same, n    int     // positions with the same likeliest token, and all
}

func (q *quality) add(want, got []float32, v int) {
	for ; len(want) > 0; want, got = want[v:], got[v:] {
		kl := divergence(want[:v], got[:v])
		q.sum, q.worst, q.n = q.sum+kl, max(q.worst, kl), q.n+1
		if kernel.ArgMax(want[:v]) == kernel.ArgMax(got[:v]) {
			q.same++
		}
	}
}

// check compares with llama.cpp's figures on the same prompts.
func (q *quality) check(t *testing.T, g goldens) {
	mean, top1 := q.sum/float64(q.n), float64(q.same)/float64(q.n)
	t.Logf("%d positions: mean KL %.5f, worst %.4f, likeliest token the same %.2f %% (llama.cpp: %.5f, %.2f %%)", q.n, mean, q.worst, 100*top1, g.LlamaCpp.MeanKL, 100*g.LlamaCpp.Top1)
	if q.n != g.LlamaCpp.Positions || mean > g.LlamaCpp.MeanKL {
		t.Errorf("mean KL %.5f over %d positions; llama.cpp has %.5f over %d", mean, q.n, g.LlamaCpp.MeanKL, g.LlamaCpp.Positions)
	}
	// the standard error of a share near 0.96 over some 600 positions is 0.8 points
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
