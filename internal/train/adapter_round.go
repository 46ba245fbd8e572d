package train

import (
	"encoding/binary"
	"math"

	"macaron/internal/engine/lora"
	"macaron/internal/engine/weights/safetensors"
)

// Adapter is the revision of the masters as they are now: what ForwardBackward computes
// with and what an export holds, byte for byte. It is immutable.
func (t *Trainer) Adapter() (*lora.Adapter, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.master == nil {
		return nil, closed()
	}
	return t.round()
}

// round makes the adapter that serves, unless it is there since the last step.
func (t *Trainer) round() (*lora.Adapter, error) {
	if t.served != nil {
		return t.served, nil
	}
	a, err := lora.Make(t.config(), t.tensors(), t.base)
	t.served = a
	return a, err
}

func (t *Trainer) config() lora.Config {
	return lora.Config{Rank: t.spec.Rank, Alpha: t.spec.Alpha, RsLoRA: t.spec.RsLoRA, Targets: t.spec.Targets}
}

// Export writes the revision as a PEFT directory. It has the rounded A and B and nothing
// of the optimizer.
func (t *Trainer) Export(dir string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.master == nil {
		return closed()
	}
	return lora.Write(dir, t.config(), t.tensors(), t.base)
}

// tensors are the masters rounded to half precision, named as PEFT does. Values beyond
// its range become the largest of it.
func (t *Trainer) tensors() []safetensors.Tensor {
	var out []safetensors.Tensor
	for _, m := range t.layout.Modules {
		a, b := t.layout.Parts(m, t.master)
		r := uint64(t.layout.Rank)
		out = append(out, halves(lora.TensorName(m.Layer, m.Target, false), a, r, uint64(m.In)),
			halves(lora.TensorName(m.Layer, m.Target, true), b, uint64(m.Out), r))
	}
	return out
}

func halves(name string, values []float32, rows, columns uint64) safetensors.Tensor {
	data := make([]byte, 2*len(values))
	for i, v := range values {
		binary.LittleEndian.PutUint16(data[2*i:], toHalf(v))
	}
	return safetensors.Tensor{Name: name, DType: safetensors.F16, Shape: []uint64{rows, columns}, Data: data}
}

// toHalf rounds to the nearest half, ties to even, and saturates.
func toHalf(f float32) uint16 {
	b := math.Float32bits(f)
	sign, b := uint16(b>>16)&0x8000, b&0x7fffffff
	switch {
	case b >= 0x477ff000: // from 65520 on it would be infinite
		return sign | 0x7bff
	case b >= 0x38800000: // normal
		b += 0xfff + b>>13&1
		return sign | uint16((b-0x38000000)>>13)
	case b < 0x33000000: // half of the smallest, and below
		return sign
	}
	shift := 126 - b>>23
	m := b&0x7fffff | 0x800000
	m += 1<<(shift-1) - 1 + m>>shift&1
	return sign | uint16(m>>shift)
}
