package train

import (
	"context"

	"macaron/internal/engine/lora"
)

// Passes is what computes for a trainer. Results depend on its arguments alone: not on
// threads, nor on what else the engine does.
type Passes interface {
	Turns // what the optimizer runs on

	// Logprobs is the forward pass alone: for each sequence [n, K], 0 where the target
	// is -1. a is nil for the bare base.
	Logprobs(ctx context.Context, a *lora.Adapter, seqs []Sequence) ([][]float32, error)

	// Gradients is the forward pass, and adds to Grad the gradient of the sum of all
	// sequences' losses, as far as the way goes. Slope is called once for each sequence, in
	// any order but never twice at a time; it gives d loss/d logprob [n, K] for the
	// sequence's log probabilities [n, K] and keeps neither. After an error Grad is
	// whatever it is.
	Gradients(ctx context.Context, b Backward) (Found, error)
}

// Slope is the derivative of a loss by the log probabilities of a sequence's targets.
type Slope func(seq int, logprobs []float32) (byLogprob []float32)
