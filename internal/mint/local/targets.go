package local

import (
	"context"
	"math"

	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/train"
)

// targets reads the tokens [len(prompt)-1, K] whose log probabilities are asked for.
func targets(r mint.Sample) (ids []int32, k int, err error) {
	t := r.Targets
	if t == nil {
		return nil, 0, nil
	}
	bad := errs.Newf(errs.InvalidRequest, "the targets are no whole numbers of the shape [%d, K]", len(r.Prompt)-1).In("target_prompt_logprobs")
	n := int64(len(r.Prompt) - 1)
	if len(t.Shape) == 1 {
		t = &train.Tensor{Ints: t.Ints, Shape: []int64{t.Shape[0], 1}}
	}
	if len(t.Shape) != 2 || t.Shape[0] != n || t.Shape[1] < 1 || t.Shape[1] > maxTargets || int64(len(t.Ints)) != n*t.Shape[1] {
		return nil, 0, bad
	}
	ids = make([]int32, len(t.Ints))
	for i, id := range t.Ints {
		if id < -1 || id > math.MaxInt32 {
			return nil, 0, bad
		}
		ids[i] = int32(id)
	}
	return ids, int(t.Shape[1]), nil
}

// maxTargets bounds the targets at one position.
const maxTargets = 1024

// targetLogprobs computes what is asked for by the pass that trains, which gives the bits
// of the one that samples.
func (w *Worker) targetLogprobs(ctx context.Context, a *lora.Adapter, r mint.Sample) (*train.Tensor, error) {
	ids, k, err := targets(r)
	if err != nil || ids == nil {
		return nil, err
	}
	for _, id := range ids {
		if int(id) >= w.shape.Vocab {
			return nil, errs.Newf(errs.InvalidRequest, "the target %d is not in the vocabulary of %d", id, w.shape.Vocab).In("target_prompt_logprobs")
		}
	}
	all, err := w.passes.Logprobs(ctx, a, []train.Sequence{{Tokens: r.Prompt[:len(r.Prompt)-1], Targets: ids, K: k}})
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if id < 0 {
			all[0][i] = float32(math.NaN())
		}
	}
	return &train.Tensor{Floats: all[0], Shape: []int64{int64(len(r.Prompt) - 1), int64(k)}}, nil
}
