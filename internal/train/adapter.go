package train

import (
	"context"
	"sync"

	"macaron/internal/engine/lora"
	"macaron/internal/errs"
)

// Trainer is one adapter under training. Its methods can be called from any goroutine
// and run one after the other, but Adapter, which waits for nobody, once it is made.
//
// Gradients add up over calls of ForwardBackward until OptimStep, which takes them. The
// same calls give the same bits, on any number of threads and on any worker. How one batch
// is cut into calls changes the order of additions, and so the last bits of a gradient;
// log probabilities and losses by datum are the same bits however it is cut.
type Trainer struct {
	passes  Passes
	base    lora.Shape
	context int // most tokens of a datum
	spec    Spec
	layout  *Layout

	mu      sync.Mutex
	master  []float32 // [Layout.Size]
	grad    []float32 // nil until the first gradient
	backup  []float32 // grad as it was before a call that may fail
	moments [2][]float32
	steps   int64 // taken
	pending int64 // data in grad
	served  *lora.Adapter
	kept    Kept // prompts, where they are resident
}

// New begins a new adapter: A is uniform between +-1/sqrt(in) by the seed, B is zero, so
// that the first revision computes what the base computes.
func New(p Passes, base lora.Shape, context int, s Spec) (*Trainer, error) {
	t, err := blank(p, base, context, s)
	if err != nil {
		return nil, err
	}
	t.initialise()
	return t, nil
}

// blank is a trainer whose masters are all zero.
func blank(p Passes, base lora.Shape, context int, s Spec) (*Trainer, error) {
	if err := s.complete(); err != nil {
		return nil, err
	}
	l, err := s.layout(base)
	if err != nil {
		return nil, err
	}
	return &Trainer{passes: p, base: base, context: context, spec: s, layout: l, master: make([]float32, l.Size)}, nil
}

// Spec is the adapter's shape, with all defaults filled in and the targets by name.
func (t *Trainer) Spec() Spec { return t.spec }

// StateBytes is the memory that masters, gradients and moments take once there are all.
func (t *Trainer) StateBytes() int64 { return t.layout.stateBytes() }

// Steps is the number of optimizer steps that were taken.
func (t *Trainer) Steps() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.steps
}

// Forward computes a loss and touches no gradient.
func (t *Trainer) Forward(ctx context.Context, data []Datum, l Loss) (Output, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, a, err := t.begin(data, l)
	if err != nil {
		return Output{}, err
	}
	all, err := t.passes.Logprobs(ctx, a, e.seqs)
	if err != nil {
		return Output{}, err
	}
	for i, p := range all {
		e.see(i, p)
	}
	return e.output(), nil
}

// ForwardBackward is Forward, and adds the gradient of the loss, a sum over all tokens of
// all data, to what OptimStep will take. When it fails nothing was added.
func (t *Trainer) ForwardBackward(ctx context.Context, data []Datum, l Loss) (Output, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, a, err := t.begin(data, l)
	if err != nil {
		return Output{}, err
	}
	t.keepGradient()
	found, err := t.passes.Gradients(ctx, Backward{Adapter: a, Layout: t.layout, Seqs: e.seqs, Slope: e.see, Grad: t.grad, Way: e.way(), Kept: t.prompts(e)})
	if err != nil {
		t.restoreGradient()
		return Output{}, err
	}
	t.pending += int64(len(data))
	out := e.output()
	found.tell(e.way(), out.Metrics)
	return out, nil
}

// begin checks the data and gives what computes it.
func (t *Trainer) begin(data []Datum, l Loss) (*evaluation, *lora.Adapter, error) {
	if t.master == nil {
		return nil, nil, closed()
	}
	e, err := newEvaluation(data, l, t.base.Vocab, t.context)
	if err != nil {
		return nil, nil, err
	}
	a, err := t.round()
	return e, a, err
}

// keepGradient makes a failing call undoable.
func (t *Trainer) keepGradient() {
	if t.grad == nil {
		t.grad = make([]float32, t.layout.Size)
	}
	if t.pending > 0 {
		t.backup = append(t.backup[:0], t.grad...)
	}
}

func (t *Trainer) restoreGradient() {
	if t.pending > 0 {
		copy(t.grad, t.backup)
	} else {
		clear(t.grad)
	}
}

// Close gives the memory back; everything after it is refused.
func (t *Trainer) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop()
}

func (t *Trainer) drop() {
	t.master, t.grad, t.backup, t.moments, t.served = nil, nil, nil, [2][]float32{}, nil
	_ = t.kept.Drop() // its file has no name, and nobody will read it
}

func closed() error {
	return errs.New(errs.NotFound, "the adapter under training was closed", "load its last checkpoint")
}
