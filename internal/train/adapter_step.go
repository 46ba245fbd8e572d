package train

import (
	"context"
	"fmt"
	"math"

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
// else changes then. The context ends nothing: a step is short and happens whole.
func (t *Trainer) OptimStep(_ context.Context, a Adam) (map[string]float64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.master == nil {
		return nil, closed()
	}
	if err := a.Check(); err != nil {
		return nil, err
	}
	if t.grad == nil {
		t.grad = make([]float32, t.layout.Size)
	}
	norm := norm(t.grad)
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		t.clearGradient()
		return nil, errs.New(errs.InvalidRequest, "the gradient is not finite; it was cleared and no step was taken", "look at the data and the weights of the last passes, or lower the learning rate")
	}
	for i := range t.moments {
		if t.moments[i] == nil {
			t.moments[i] = make([]float32, t.layout.Size)
		}
	}
	t.steps++
	step(t.master, t.grad, t.moments[0], t.moments[1], a, t.steps, clip(norm, a.GradClipNorm))
	t.served = nil
	data := t.pending
	t.clearGradient()
	return map[string]float64{"grad_norm:mean": norm, "learning_rate:mean": a.LearningRate, "step:max": float64(t.steps), "data:sum": float64(data)}, nil
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

// norm is the Euclidean norm, summed in order.
func norm(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}

// step is AdamW (arXiv 1711.05101) on every value.
func step(p, g, m, v []float32, a Adam, n int64, scale float32) {
	b1, b2 := float32(a.Beta1), float32(a.Beta2)
	size := float32(a.LearningRate / (1 - math.Pow(a.Beta1, float64(n))))
	root := float32(math.Sqrt(1 - math.Pow(a.Beta2, float64(n))))
	keep, eps := float32(1-a.LearningRate*a.WeightDecay), float32(a.Eps)
	for i, x := range g {
		x *= scale
		m[i] = float32(b1*m[i]) + float32((1-b1)*x)
		v[i] = float32(b2*v[i]) + float32(float32((1-b2)*x)*x)
		d := float32(float32(math.Sqrt(float64(v[i])))/root) + eps
		p[i] = float32(p[i]*keep) - float32(size*float32(m[i]/d))
	}
}
