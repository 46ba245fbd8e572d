package main

import (
	"context"
	"slices"

	"macaron/internal/train"
)

// passes are those of a graph; they keep what it tells.
type passes struct {
	*train.Graph
	started, first float64
	found          train.Found
	last           train.Backward
}

func (p *passes) Gradients(ctx context.Context, b train.Backward) (train.Found, error) {
	p.last = b
	slope := b.Slope
	b.Slope = func(i int, logprobs []float32) []float32 {
		if p.first == 0 {
			p.first = processor()
		}
		return slope(i, logprobs)
	}
	var err error
	p.found, err = p.Graph.Gradients(ctx, b)
	return p.found, err
}

// token i of sequence j; the prompt is sequence 0.
func token(j, i int) int32 { return int32((j*7919 + i*104729 + i%4096*(i%4096)*31) % 40000) }

// data is a group of answers with advantages. What the prompt predicts is not asked for.
func (r *result) data() (out []train.Datum) {
	n := r.Prompt + r.Response
	for j := range r.Answers {
		tokens, targets := make([]int32, n), make([]int64, n)
		logprobs, advantages := make([]float32, n), make([]float32, n)
		for i := range n {
			if tokens[i], targets[i] = token(0, i), -1; i >= r.Prompt {
				tokens[i], targets[i] = token(j+1, i), int64(token(j+1, i+1))
				logprobs[i], advantages[i] = -10, float32(j%2)-0.5
			}
		}
		out = append(out, train.Datum{Tokens: tokens, Inputs: map[string]train.Tensor{"target_tokens": {Ints: targets}, "logprobs": {Floats: logprobs}, "advantages": {Floats: advantages}}})
	}
	return out
}

// pieces sums up how long pieces of work took.
func (r *result) pieces(t *timed) {
	r.Pieces = len(t.wall)
	slices.Sort(t.wall)
	slices.Sort(t.cpu)
	at := len(t.wall) * 99 / 100
	r.LongestPiece, r.TypicalLongest, r.PieceCPU = t.wall[len(t.wall)-1], t.wall[at], t.cpu[at]
}
