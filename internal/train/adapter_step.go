package train

import (
	"context"
	"fmt"
	"math"

	"macaron/internal/engine/kernel"
	"macaron/internal/errs"
)

// DefaultAdam has the values that hold where a request leaves them out.
var DefaultAdam = Adam{LearningRate: 1e-4, Beta1: 0.9, Beta2: 0.95, Eps: 1e-12}

// Check refuses what is no step.
func (a Adam) Check() error {
	for _, f := range []struct {
		name     string
		v        float64
		low, end float64 // low <= v < end
	}{{"learning_rate", a.LearningRate, 0, 1e6}, {"beta1", a.Beta1, 0, 1}, {"beta2", a.Beta2, 0, 1},
		{"eps", a.Eps, math.SmallestNonzeroFloat32, 1e6}, {"weight_decay", a.WeightDecay, 0, 1e6}, {"grad_clip_norm", a.GradClipNorm, 0, math.Inf(1)}} {
		if !(f.v >= f.low && f.v < f.end) {
			return errs.New(errs.InvalidRequest, fmt.Sprintf("%s is %v", f.name, f.v), fmt.Sprintf("use a number from %v, below %v", f.low, f.end)).In(f.name)
		}
	}
	return nil
}

// OptimStep takes the gradients: it clips their global norm, steps the masters by AdamW
// with decoupled weight decay, and clears them. Without any gradient it steps by zero
// ones, as optimizers do. A gradient that is not finite is refused and cleared; nothing
// else changes then. Once it has begun, ctx ends it no more.
func (t *Trainer) OptimStep(ctx context.Context, a Adam) (map[string]float64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.master == nil {
		return nil, closed()
	}
	if err := a.Check(); err != nil {
		return nil, err
	}
	norm, err := t.gradientNorm(ctx)
	if err != nil {
		return nil, err
	}
	for i := range t.moments {
		if t.moments[i] == nil {
			t.moments[i] = make([]float32, t.layout.Size)
		}
	}
	k := kernel.AdamW{Rate: a.LearningRate, Beta1: a.Beta1, Beta2: a.Beta2, Eps: a.Eps, Decay: a.WeightDecay, T: int(t.steps) + 1, Clip: clip(norm, a.GradClipNorm)}
	if err := t.step(context.WithoutCancel(ctx), k); err != nil {
		return nil, err
	}
	t.steps++
	t.served = nil
	data := t.pending
	t.clearGradient()
	return map[string]float64{"grad_norm:mean": norm, "learning_rate:mean": a.LearningRate, "step:max": float64(t.steps), "data:sum": float64(data)}, nil
}

// gradientNorm is the global norm of the gradients before they are clipped.
func (t *Trainer) gradientNorm(ctx context.Context) (float64, error) {
	if t.grad == nil {
		t.grad = make([]float32, t.layout.Size)
	}
	var norm float64
	if err := t.passes.Do(ctx, func(*kernel.Pool) { norm = math.Sqrt(kernel.SumSquares(t.grad)) }); err != nil {
		return 0, err
	}
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		t.clearGradient()
		return 0, errs.New(errs.InvalidRequest, "the gradient is not finite; it was cleared and no step was taken", "look at the data and the weights of the last passes, or lower the learning rate")
	}
	return norm, nil
}

// stepPiece is how many values are stepped before others may have their turn.
const stepPiece = 1 << 21

// step steps every value, piece by piece. Only an engine that closes can stop it halfway;
// the trainer is closed then, as its state is no state of any run.
func (t *Trainer) step(ctx context.Context, k kernel.AdamW) error {
	for lo := 0; lo < len(t.master); lo += stepPiece {
		hi := min(lo+stepPiece, len(t.master))
		if err := t.passes.Do(ctx, func(p *kernel.Pool) {
			k.Step(p, t.master[lo:hi], t.moments[0][lo:hi], t.moments[1][lo:hi], t.grad[lo:hi])
		}); err != nil {
			if lo > 0 {
				t.drop()
			}
			return err
		}
	}
	return nil
}

func (t *Trainer) clearGradient() {
	clear(t.grad)
	t.pending = 0
}

// clip is the factor that brings a norm down to most; 1 when it is below, or most is 0.
// The small addend is PyTorch's, in clip_grad_norm_.
func clip(norm, most float64) float32 {
	if most <= 0 || norm <= most {
		return 1
	}
	return float32(most / (norm + 1e-6))
}
