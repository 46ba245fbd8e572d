package train

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"macaron/internal/engine/lora"
	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Checkpoint is a checkpoint file that was read, before any base is known. Its values are
// views of the file.
type Checkpoint struct {
	Base    ids.Digest // that it was trained on
	Spec    Spec
	Steps   int64
	Pending int64  // data whose gradients wait for a step
	Cursor  string // the caller's

	file *safetensors.File
}

// Restored is how much of a checkpoint is taken over.
type Restored int

// What can be taken over.
const (
	Weights   Restored = iota // the masters; moments and step count begin anew
	Optimizer                 // moments and step count too
	All                       // and gradients that wait for a step
)

// ReadCheckpoint reads a checkpoint from its bytes, which stay in use.
func ReadCheckpoint(raw []byte) (*Checkpoint, error) {
	f, err := safetensors.Parse(raw)
	if err != nil {
		return nil, badCheckpoint("%s", errs.As(err).Message)
	}
	if f.Meta["format"] != checkpointFormat {
		return nil, badCheckpoint("its metadata do not say that it is one")
	}
	if v := f.Meta["version"]; v != checkpointVersion {
		return nil, errs.New(errs.Unsupported, fmt.Sprintf("the checkpoint has version %q, this build reads %s", errs.Clip(v), checkpointVersion), "use the build that wrote it")
	}
	s, err := parseState(f.Meta["state"])
	if err != nil {
		return nil, err
	}
	return s.checkpoint(f)
}

// parseState reads the state strictly.
func parseState(text string) (state, error) {
	var s state
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil || d.More() {
		return s, badCheckpoint("its state is not one JSON object with the known fields: %v", err)
	}
	return s, nil
}

// checkpoint checks every field.
func (s *state) checkpoint(f *safetensors.File) (*Checkpoint, error) {
	base, err := ids.ParseDigest(string(s.Base))
	if s.Base != "" && err != nil {
		return nil, badCheckpoint("its base %q is no digest", errs.Clip(string(s.Base)))
	}
	seed, err := strconv.ParseUint(s.Seed, 10, 64)
	if err != nil || decimal(seed) != s.Seed {
		return nil, badCheckpoint("its seed %q is no number of 64 bits", errs.Clip(s.Seed))
	}
	c := &Checkpoint{Base: base, Steps: s.Steps, Pending: s.Pending, Cursor: s.Cursor, file: f,
		Spec: Spec{Rank: s.Rank, Alpha: s.Alpha, RsLoRA: s.RsLoRA, Seed: seed, Targets: s.Targets}}
	const most = 1 << 53
	if s.Steps < 0 || s.Steps > most || s.Pending < 0 || s.Pending > most || len(s.Cursor) > MaxCursor {
		return nil, badCheckpoint("it counts %d steps and %d data, with a cursor of %d bytes", s.Steps, s.Pending, len(s.Cursor))
	}
	if len(s.Targets) == 0 || s.Alpha == 0 {
		return nil, badCheckpoint("it names no targets or no alpha")
	}
	if err := c.Spec.complete(); err != nil {
		return nil, badCheckpoint("%s", errs.As(err).Message)
	}
	if !slices.Equal(c.Spec.Targets, s.Targets) {
		return nil, badCheckpoint("its targets are not sorted, or stand there twice")
	}
	return c, nil
}

// Resume makes a trainer from a checkpoint. With All it goes on, bit for bit, as the one
// that saved it would have.
func Resume(p Passes, base lora.Shape, context int, c *Checkpoint, how Restored) (*Trainer, error) {
	l, err := c.Spec.layout(base)
	if err != nil {
		return nil, err
	}
	t := &Trainer{passes: p, base: base, context: context, spec: c.Spec, layout: l, master: []float32{}}
	return t, t.Load(c, how)
}

// Load takes over a checkpoint of the same base, rank and targets. Gradients that wait for
// a step are dropped, unless how is All. When it fails nothing has changed.
func (t *Trainer) Load(c *Checkpoint, how Restored) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.master == nil {
		return closed()
	}
	if err := t.suits(c); err != nil {
		return err
	}
	v, err := c.vectors(t.layout)
	if err != nil {
		return err
	}
	t.master, t.spec, t.served = v[0], c.Spec, nil
	t.moments, t.steps = [2][]float32{}, 0
	t.clearGradient()
	if how >= Optimizer {
		t.moments, t.steps = [2][]float32{v[1], v[2]}, c.Steps
	}
	if how == All && c.Pending > 0 {
		t.grad, t.pending = v[3], c.Pending
	}
	return nil
}

// suits refuses a checkpoint of another base or shape.
func (t *Trainer) suits(c *Checkpoint) error {
	if c.Base != t.base.Base {
		return errs.New(errs.FormatInvalid, fmt.Sprintf("the checkpoint is of the base %s, this one is %s", c.Base.Short(), t.base.Base.Short()), "load it where its base is served")
	}
	if c.Spec.Rank != t.spec.Rank || !slices.Equal(c.Spec.Targets, t.spec.Targets) {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("the checkpoint has rank %d and the targets %v, this adapter %d and %v", c.Spec.Rank, c.Spec.Targets, t.spec.Rank, t.spec.Targets), "make the adapter from the checkpoint")
	}
	return nil
}

// vectors reads all values, nil for what the file does not have because it is zero.
// Memory is bounded by the file's size, since its tensors are counted before.
func (c *Checkpoint) vectors(l *Layout) ([4][]float32, error) {
	var out [4][]float32
	there := [4]bool{true, c.Steps > 0, c.Steps > 0, c.Pending > 0}
	if err := c.count(l, there); err != nil {
		return out, err
	}
	for i, suffix := range checkpointParts {
		if !there[i] {
			continue
		}
		out[i] = make([]float32, l.Size)
		for _, m := range l.Modules {
			if err := c.module(l, m, suffix, out[i]); err != nil {
				return out, err
			}
		}
	}
	return out, positive(out[2])
}

// count compares what the file has with what its state tells.
func (c *Checkpoint) count(l *Layout, there [4]bool) error {
	vectors, values := 0, 0
	for _, is := range there {
		if is {
			vectors++
		}
	}
	for i := range c.file.Tensors {
		values += c.file.Tensors[i].Elements()
	}
	if n := len(c.file.Tensors); n != vectors*2*len(l.Modules) || values != vectors*l.Size {
		return badCheckpoint("it has %d values in %d tensors, its state tells of %d in %d", values, n, vectors*l.Size, vectors*2*len(l.Modules))
	}
	return nil
}

// module reads the two tensors of a module.
func (c *Checkpoint) module(l *Layout, m Module, suffix string, into []float32) error {
	a, b := l.Parts(m, into)
	if err := c.tensor(lora.TensorName(m.Layer, m.Target, false)+suffix, a, l.Rank, m.In); err != nil {
		return err
	}
	return c.tensor(lora.TensorName(m.Layer, m.Target, true)+suffix, b, m.Out, l.Rank)
}

func (c *Checkpoint) tensor(name string, into []float32, rows, columns int) error {
	t, err := c.file.Tensor(name)
	if err != nil {
		return badCheckpoint("%s", errs.As(err).Message)
	}
	if t.DType != safetensors.F32 || !slices.Equal(t.Shape, []uint64{uint64(rows), uint64(columns)}) {
		return badCheckpoint("the tensor %s is %s of shape %v, not F32 of [%d %d]", name, t.DType, t.Shape, rows, columns)
	}
	for i := range into {
		v := math.Float32frombits(binary.LittleEndian.Uint32(t.Data[4*i:]))
		if v-v != 0 {
			return badCheckpoint("the tensor %s has %v at %d", name, v, i)
		}
		into[i] = v
	}
	return nil
}

// positive refuses second moments below zero, of which there is no root.
func positive(v []float32) error {
	if i := slices.IndexFunc(v, func(x float32) bool { return x < 0 }); i >= 0 {
		return badCheckpoint("a second moment is %v", v[i])
	}
	return nil
}

func badCheckpoint(format string, args ...any) error {
	return errs.New(errs.FormatInvalid, "not a usable checkpoint: "+fmt.Sprintf(format, args...), "use a file that this program wrote")
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }
