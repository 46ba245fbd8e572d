package train

import (
	"encoding/binary"
	"io"
	"math"

	"macaron/internal/canonical"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/ids"
)

// What a checkpoint file says of itself, in the metadata of the safetensors file that it
// is (docs/formats/checkpoint.md).
const (
	checkpointFormat  = "macaron-checkpoint"
	checkpointVersion = "1"
)

// state is what a checkpoint has beside values, as canonical JSON.
type state struct {
	Base    ids.Digest `json:"base"`
	Rank    int        `json:"rank"`
	Alpha   float64    `json:"alpha"`
	RsLoRA  bool       `json:"rslora"`
	Seed    string     `json:"seed"` // decimal: JSON has no 64 bits
	Targets []string   `json:"targets"`
	Steps   int64      `json:"steps"`
	Pending int64      `json:"pending"` // data whose gradients wait for a step
	Cursor  string     `json:"cursor,omitempty"`
}

// MaxCursor bounds the cursor of a checkpoint, in bytes.
const MaxCursor = 1 << 20

// Suffixes of the tensors that are not masters.
var checkpointParts = [4]string{"", ".exp_avg", ".exp_avg_sq", ".grad"}

// Save writes the whole state of the trainer: masters, moments, step count, and gradients
// that wait for a step. Equal states give equal bytes. Resident prompts are dropped, so that
// whoever resumes goes on with the same bits. cursor is the caller's, such as its
// place in the data.
func (t *Trainer) Save(w io.Writer, cursor string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.master == nil {
		return closed()
	}
	if len(cursor) > MaxCursor {
		return badCheckpoint("the cursor has %d bytes, more than %d", len(cursor), MaxCursor)
	}
	raw, err := canonical.Bytes(t.state(cursor))
	if err != nil {
		return err
	}
	if err := t.kept.Drop(); err != nil {
		return err
	}
	var tensors []safetensors.Tensor
	for i, vector := range t.vectors() {
		if vector != nil {
			tensors = append(tensors, t.layout.tensors(vector, checkpointParts[i])...)
		}
	}
	return safetensors.Encode(w, tensors, map[string]string{"format": checkpointFormat, "version": checkpointVersion, "state": string(raw)})
}

func (t *Trainer) state(cursor string) state {
	return state{Base: t.base.Base, Rank: t.spec.Rank, Alpha: t.spec.Alpha, RsLoRA: t.spec.RsLoRA, Seed: decimal(t.spec.Seed),
		Targets: t.spec.Targets, Steps: t.steps, Pending: t.pending, Cursor: cursor}
}

// vectors are what a checkpoint holds, in the order of checkpointParts; nil for what is
// all zero.
func (t *Trainer) vectors() [4][]float32 {
	v := [4][]float32{t.master, t.moments[0], t.moments[1], nil}
	if t.pending > 0 {
		v[3] = t.grad
	}
	return v
}

// tensors are a vector as single precision tensors with the names of PEFT and a suffix.
func (l *Layout) tensors(vector []float32, suffix string) []safetensors.Tensor {
	var out []safetensors.Tensor
	for _, m := range l.Modules {
		a, b := l.Parts(m, vector)
		r := uint64(l.Rank)
		out = append(out, singles(lora.TensorName(m.Layer, m.Target, false)+suffix, a, r, uint64(m.In)),
			singles(lora.TensorName(m.Layer, m.Target, true)+suffix, b, uint64(m.Out), r))
	}
	return out
}

func singles(name string, values []float32, rows, columns uint64) safetensors.Tensor {
	data := make([]byte, 4*len(values))
	for i, v := range values {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(v))
	}
	return safetensors.Tensor{Name: name, DType: safetensors.F32, Shape: []uint64{rows, columns}, Data: data}
}
