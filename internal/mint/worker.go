package mint

import (
	"context"

	"macaron/internal/engine/lora"
	"macaron/internal/ids"
	"macaron/internal/train"
)

// Worker trains and samples adapters of one base.
type Worker interface {
	Base() Base
	Shape() lora.Shape
	Passes() train.Passes

	// Check refuses what Sample would refuse.
	Check(r Sample) error
	// Sample answers a prompt: the same request, seed and adapter give the same bits.
	// a is nil for the bare base.
	Sample(ctx context.Context, owner string, a *Stored, r Sample, seed uint64) (Samples, error)
}

// Stored is an adapter by the digest of its archive, to be read when it is not in memory.
type Stored struct {
	Digest ids.Digest
	Read   func() (Adapter, error)
}

// Adapter is an adapter as PEFT keeps it.
type Adapter struct {
	Config  []byte // adapter_config.json
	Tensors []byte // adapter_model.safetensors
}

// newTrainer begins an adapter.
func newTrainer(w Worker, spec train.Spec) (*train.Trainer, error) {
	return train.New(w.Passes(), w.Shape(), w.Base().MaxContext, spec)
}

// importAdapter begins at an exported adapter.
func importAdapter(w Worker, a Adapter) (*train.Trainer, error) {
	c, err := lora.Parse(a.Config, a.Tensors)
	if err != nil {
		return nil, err
	}
	fit, err := c.Adapter(w.Shape())
	if err != nil {
		return nil, err
	}
	return train.From(w.Passes(), w.Shape(), w.Base().MaxContext, fit)
}

// exportAdapter gives the adapter as it serves.
func exportAdapter(t *train.Trainer) (a Adapter, err error) {
	c, err := t.Content()
	if err != nil {
		return a, err
	}
	a.Config, a.Tensors, err = c.PEFT()
	return a, err
}
