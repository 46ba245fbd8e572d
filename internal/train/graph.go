package train

import (
	"context"
	"fmt"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/model"
	"macaron/internal/errs"
)

// Graph computes log probabilities and gradients on a model; it is the Passes of a
// trainer on this machine. The forward pass is model.Step, which serves.
//
// Sequences that begin alike are a tree of stretches of tokens (tree.go), walked depth
// first: a stretch is computed forward once, then everything that continues it, then it
// is computed backward. Of a stretch on the path its keys and values stay, and the input
// of every layer; what happens inside a layer is computed again when the backward pass
// comes to it. So memory grows with the longest path, not with the number of sequences.
//
// What is bit for bit the same: log probabilities do not depend on other sequences, on
// their order, on the way, on threads or on Options.Rows and Reach, and are those of Engine.Score
// and of sampling. Gradients do not depend on threads or on what else the engine does. They do
// depend, within rounding of single precision, on the list of sequences, its order,
// the way, Options.Rows and Reach, which decide in which order terms are added.
type Graph struct {
	m     *model.Model
	turns Turns
	o     Options
	free  chan struct{} // so many passes at a time have memory

	scratch func(dir string) (scratch, error)
}

// Options are settings of a graph. The zero value serves.
type Options struct {
	Mode    kernel.Mode // as the engine that serves
	Least   int         // tokens that are worth sharing; 0: 16
	Rows    int         // most rows computed at once, fewer at far positions; 0: 256
	Reach   int         // positions up to which Rows are; 0: 1024
	Context int         // positions of a sequence; 0: those that the model was made for
	Inside  int64       // most bytes of what happens inside layers, and of logits, that are kept; 0: 208 MiB, below 0: none
	Passes  int         // that may be under way at once, in turns, each with its memory; 0: 1
	Spill   Spill

	// Tape makes room for the inputs of so many entries; nil: as Spill says.
	Tape func(entries, rows, d int) (Tape, error)
}

// Spill says when memory goes to disk.
type Spill struct {
	Dir    string // where; "": never
	Memory int64  // bytes of keys and values, of their gradients and of inputs of layers that stay in memory
}

// NewGraph makes a graph on a loaded model.
func NewGraph(m *model.Model, turns Turns, o Options) *Graph {
	if o.Least <= 0 {
		o.Least = 16
	}
	if o.Rows <= 0 {
		o.Rows = 256
	}
	if o.Reach <= 0 {
		o.Reach = 1024
	}
	if o.Inside == 0 {
		o.Inside = 208 << 20
	}
	if o.Context <= 0 {
		o.Context = m.Context
	}
	g := &Graph{m: m, turns: turns, o: o, free: make(chan struct{}, max(o.Passes, 1)), scratch: newScratch}
	if o.Spill.Dir != "" {
		sweep(o.Spill.Dir)
	}
	return g
}

// Do runs a piece of work on the threads of the graph, see Turns.
func (g *Graph) Do(ctx context.Context, piece func(*kernel.Pool)) error {
	return g.turns.Do(ctx, piece)
}

// Logprobs is the forward pass alone, see Passes.
func (g *Graph) Logprobs(ctx context.Context, a *lora.Adapter, seqs []Sequence) ([][]float32, error) {
	p := &pass{g: g, m: g.m, mix: lora.Only(a), seqs: seqs}
	err := p.run(ctx)
	for i := range p.logprobs {
		p.logprobsOf(i)
	}
	return p.logprobs, err
}

// Gradients is the forward and the backward pass, see Passes. Of modules that the layout
// has and the adapter has not nothing is computed.
func (g *Graph) Gradients(ctx context.Context, b Backward) (Found, error) {
	if len(b.Grad) != b.Layout.Size {
		return Found{}, errs.Newf(errs.Internal, "a gradient of %d values for a layout of %d", len(b.Grad), b.Layout.Size)
	}
	p := &pass{g: g, m: g.m, mix: lora.Only(b.Adapter), seqs: b.Seqs, slope: b.Slope, way: b.Way}
	p.to = newTargets(g.m, b.Adapter, b.Layout, b.Grad)
	if b.Way == Resident {
		if b.Kept == nil {
			return Found{}, errs.New(errs.Internal, "a resident prefix without a place to stay", "")
		}
		b.Kept.begin(p, b.Adapter)
	}
	err := p.run(ctx)
	return p.found, err
}

// check refuses sequences that cannot be computed.
func (g *Graph) check(seqs []Sequence) error {
	for i, s := range seqs {
		n := len(s.Tokens)
		switch {
		case n == 0:
			return errs.New(errs.InvalidRequest, fmt.Sprintf("datum %d has no tokens", i), "give at least one")
		case n > g.o.Context:
			return errs.Newf(errs.ContextExceeded, "datum %d has %d tokens; the model's context holds %d", i, n, g.o.Context)
		case s.Prompt < 0 || s.Prompt > n:
			return errs.Newf(errs.Internal, "datum %d has %d tokens and a prompt of %d", i, n, s.Prompt)
		case s.K < 0 || len(s.Targets) != n*s.K:
			return errs.Newf(errs.InvalidRequest, "datum %d has %d tokens and %d targets, %d at each token", i, n, len(s.Targets), s.K)
		}
		for j, t := range s.Tokens {
			if t < 0 || int(t) >= g.m.V {
				return errs.Newf(errs.InvalidRequest, "token %d at position %d of datum %d is not in the vocabulary of %d", t, j, i, g.m.V)
			}
		}
		for j, t := range s.Targets {
			if t < -1 || int(t) >= g.m.V {
				return errs.Newf(errs.InvalidRequest, "target %d at position %d of datum %d is not in the vocabulary of %d", t, j/s.K, i, g.m.V)
			}
		}
	}
	return nil
}

func canceled(ctx context.Context) error {
	return errs.Wrap(errs.Canceled, context.Cause(ctx), "the pass was cancelled", "")
}
