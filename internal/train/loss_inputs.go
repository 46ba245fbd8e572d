package train

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"macaron/internal/errs"
)

// MaxTargets bounds the targets of one position.
const MaxTargets = 1024

// row is a datum as a loss reads it. All slices are [n, k] or nil.
type row struct {
	targets         []int32
	k               int
	shape           []int64 // of the targets
	w, q, old, A    []float32
	low, high, mask []float32
	loss            float64
	sums            sums
}

// token is what the term of target i reads.
func (r *row) token(i int, p float64, s *settings) token {
	t := token{p: p, w: 1, low: s.of("clip_low_threshold"), high: s.of("clip_high_threshold"), hasOld: r.old != nil}
	for _, f := range []struct {
		to   *float64
		from []float32
	}{{&t.w, r.w}, {&t.q, r.q}, {&t.old, r.old}, {&t.A, r.A}, {&t.low, r.low}, {&t.high, r.high}} {
		if f.from != nil {
			*f.to = float64(f.from[i])
		}
	}
	return t
}

// reader checks one datum.
type reader struct {
	kind           *lossKind
	loss           string
	datum          int
	d              *Datum
	vocab, context int
}

// inputs are the names that a loss reads; the first required ones must be there.
func (k *lossKind) inputs() (names []string, required int) {
	if !k.policy {
		return []string{"target_tokens", "weights"}, 2
	}
	names, required = []string{"target_tokens", "logprobs", "advantages"}, 3
	if k.sequence {
		names, required = append(names, "sequence_ratio_mask"), 4
	}
	names = append(names, "weights", "old_logprobs")
	if k.clipped {
		names = append(names, "clip_low_threshold", "clip_high_threshold")
	}
	return names, required
}

func (in *reader) row() (row, error) {
	if err := in.tokens(); err != nil {
		return row{}, err
	}
	if err := in.names(); err != nil {
		return row{}, err
	}
	r, err := in.targets()
	if err != nil {
		return row{}, err
	}
	for name, to := range map[string]*[]float32{"weights": &r.w, "logprobs": &r.q, "old_logprobs": &r.old, "advantages": &r.A,
		"clip_low_threshold": &r.low, "clip_high_threshold": &r.high, "sequence_ratio_mask": &r.mask} {
		if t, ok := in.d.Inputs[name]; ok {
			if *to, err = in.floats(name, t, r.shape); err != nil {
				return row{}, err
			}
		}
	}
	return r, nil
}

// tokens checks the tokens of the model's input.
func (in *reader) tokens() error {
	n := len(in.d.Tokens)
	if n == 0 {
		return in.bad("model_input", "has no token", "send at least one")
	}
	if n > in.context {
		return errs.New(errs.ContextExceeded, fmt.Sprintf("datum %d has %d tokens, the model takes %d", in.datum, n, in.context), "cut it").In("model_input")
	}
	for i, t := range in.d.Tokens {
		if t < 0 || int(t) >= in.vocab {
			return in.bad("model_input", fmt.Sprintf("has the token %d at position %d, which the vocabulary of %d does not have", t, i, in.vocab), "use the tokenizer of this base")
		}
	}
	return nil
}

// names checks that what is needed is there and nothing else.
func (in *reader) names() error {
	names, required := in.kind.inputs()
	for _, name := range slices.Sorted(maps.Keys(in.d.Inputs)) {
		if !slices.Contains(names, name) {
			return in.bad("loss_fn_inputs", fmt.Sprintf("has %q, which the loss %s does not read", errs.Clip(name), in.loss), knownOnes("inputs", names))
		}
	}
	for _, name := range names[:required] {
		if _, ok := in.d.Inputs[name]; !ok {
			return in.bad("loss_fn_inputs", fmt.Sprintf("has no %s, which the loss %s needs", name, in.loss), knownOnes("inputs", names))
		}
	}
	return nil
}

// targets checks target_tokens: [n], or [n, k] for cross entropy. -1 asks for nothing.
func (in *reader) targets() (row, error) {
	t, n := in.d.Inputs["target_tokens"], len(in.d.Tokens)
	r := row{k: 1, shape: t.Shape}
	if len(r.shape) == 0 {
		r.shape = []int64{int64(len(t.Ints))}
	}
	wide := len(r.shape) == 2 && !in.kind.policy
	switch {
	case t.Floats != nil || t.Ints == nil:
		return r, in.bad("target_tokens", "are not whole numbers", "send int64")
	case len(r.shape) != 1 && !wide, r.shape[0] != int64(n):
		return r, in.bad("target_tokens", fmt.Sprintf("have the shape %v beside %d tokens", r.shape, n), "every position has its target: the shape is [n]; cross_entropy takes [n, k] too")
	}
	if wide {
		if r.shape[1] < 1 || r.shape[1] > MaxTargets {
			return r, in.bad("target_tokens", fmt.Sprintf("have %d targets at a position", r.shape[1]), fmt.Sprintf("send 1 to %d", MaxTargets))
		}
		r.k = int(r.shape[1])
	}
	if len(t.Ints) != n*r.k {
		return r, in.bad("target_tokens", fmt.Sprintf("have %d values for the shape %v", len(t.Ints), r.shape), "")
	}
	r.targets = make([]int32, len(t.Ints))
	for i, v := range t.Ints {
		if v < -1 || v >= int64(in.vocab) {
			return r, in.bad("target_tokens", fmt.Sprintf("have %d at position %d, which the vocabulary of %d does not have", v, i/r.k, in.vocab), "use the tokenizer of this base; -1 asks for nothing")
		}
		r.targets[i] = int32(v)
	}
	return r, nil
}

// floats checks an input that goes with the targets.
func (in *reader) floats(name string, t Tensor, shape []int64) ([]float32, error) {
	own := t.Shape
	values := t.Floats
	if t.Floats == nil {
		values = make([]float32, len(t.Ints))
		for i, v := range t.Ints {
			values[i] = float32(v)
		}
	}
	if len(own) == 0 {
		own = []int64{int64(len(values))}
	}
	want := int64(1)
	for _, n := range shape {
		want *= n
	}
	if !slices.Equal(own, shape) || int64(len(values)) != want {
		return nil, in.bad(name, fmt.Sprintf("has the shape %v and %d values, target_tokens has %v", own, len(values), shape), "align every input with the targets")
	}
	for i, v := range values {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, in.bad(name, fmt.Sprintf("has %v at %d", v, i), "send finite numbers")
		}
	}
	return values, nil
}

func (in *reader) bad(field, what, next string) error {
	return errs.New(errs.InvalidRequest, fmt.Sprintf("datum %d: %s %s", in.datum, field, what), next).In(field)
}
