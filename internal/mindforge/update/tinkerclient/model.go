package tinkerclient

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"macaron/internal/errs"
	"macaron/internal/train"
)

// Model is an adapter under training. Its operations are numbered in the order of the calls,
// from 1: who makes the same calls again after a stop gets what they came to, and nothing is
// trained twice. It is for one goroutine.
type Model struct {
	ID string

	c       *Client
	session string
	seq     int64
	beat    time.Time
}

// Backward adds the gradient of a loss, a sum over the data, and tells the log probabilities.
func (m *Model) Backward(ctx context.Context, data []train.Datum, l train.Loss) (train.Output, error) {
	return m.pass(ctx, "forward_backward", data, l)
}

// Forward computes a loss and touches no gradient.
func (m *Model) Forward(ctx context.Context, data []train.Datum, l train.Loss) (train.Output, error) {
	return m.pass(ctx, "forward", data, l)
}

func (m *Model) pass(ctx context.Context, path string, data []train.Datum, l train.Loss) (train.Output, error) {
	in, err := input(data, l)
	if err != nil {
		return train.Output{}, err
	}
	r, err := m.operate(ctx, path, map[string]any{path + "_input": in})
	if err != nil {
		return train.Output{}, err
	}
	return r.output(len(data))
}

// Step takes the gradients.
func (m *Model) Step(ctx context.Context, a train.Adam) (map[string]float64, error) {
	r, err := m.operate(ctx, "optim_step", map[string]any{"type": "optim_step", "adam_params": map[string]float64{"learning_rate": a.LearningRate,
		"beta1": a.Beta1, "beta2": a.Beta2, "eps": a.Eps, "weight_decay": a.WeightDecay, "grad_clip_norm": a.GradClipNorm}})
	if err != nil {
		return nil, err
	}
	return r.Metrics, nil
}

// Save keeps the adapter as it is, for sampling, and gives the checkpoint's path. A server
// with a catalogue publishes it there.
func (m *Model) Save(ctx context.Context, name string, metadata map[string]string) (path string, err error) {
	r, err := m.operate(ctx, "save_weights_for_sampler", map[string]any{"type": "save_weights_for_sampler", "path": name, "user_metadata": metadata})
	if err == nil && r.Path == "" {
		err = errs.New(errs.UpstreamFailed, "the training service gives a checkpoint without a path", "look at its version")
	}
	if err != nil {
		return "", err
	}
	return r.Path, nil
}

// operate sends the next operation and waits for its result.
func (m *Model) operate(ctx context.Context, path string, body map[string]any) (result, error) {
	m.seq++
	body["model_id"], body["seq_id"] = m.ID, m.seq
	return m.result(ctx, path, body)
}

// result is what operations come to; each fills its part.
type result struct {
	Type    string              `json:"type"`
	Error   string              `json:"error"`
	By      string              `json:"category"`
	Model   string              `json:"model_id"`
	Path    string              `json:"path"`
	Metrics map[string]float64  `json:"metrics"`
	Outputs []map[string]tensor `json:"loss_fn_outputs"`
}

// output takes the log probabilities of a pass, one list for each datum.
func (r *result) output(n int) (train.Output, error) {
	out := train.Output{Metrics: r.Metrics}
	if len(r.Outputs) != n {
		return out, errs.Newf(errs.UpstreamFailed, "the training service answers %d data with %d", n, len(r.Outputs))
	}
	for _, o := range r.Outputs {
		t, err := o["logprobs"].floats()
		if err != nil {
			return out, err
		}
		out.Logprobs = append(out.Logprobs, t)
	}
	return out, nil
}

// tensor is one in JSON, flat.
type tensor struct {
	Data  json.RawMessage `json:"data"`
	DType string          `json:"dtype"`
	Shape []int64         `json:"shape,omitempty"`
}

func (t tensor) floats() (out train.Tensor, err error) {
	var all []*float32 // null is no number
	if err := json.Unmarshal(t.Data, &all); err != nil {
		return out, errs.Wrap(errs.UpstreamFailed, err, "the training service's log probabilities cannot be read", "look at its version")
	}
	out.Shape = t.Shape
	for _, x := range all {
		if x == nil {
			out.Floats = append(out.Floats, float32(math.NaN()))
		} else {
			out.Floats = append(out.Floats, *x)
		}
	}
	return out, nil
}

// input is the body of a pass.
func input(data []train.Datum, l train.Loss) (map[string]any, error) {
	all := make([]map[string]any, len(data))
	for i, d := range data {
		inputs := map[string]tensor{}
		for name, t := range d.Inputs {
			var values any = t.Floats
			kind := "float32"
			if t.Ints != nil {
				values, kind = t.Ints, "int64"
			}
			b, err := json.Marshal(values)
			if err != nil {
				return nil, errs.Wrap(errs.InvalidRequest, err, "the input "+name+" has a value that is no number", "")
			}
			inputs[name] = tensor{b, kind, t.Shape}
		}
		chunk := map[string]any{"type": "encoded_text", "tokens": d.Tokens}
		all[i] = map[string]any{"model_input": map[string]any{"chunks": []any{chunk}}, "loss_fn_inputs": inputs}
	}
	in := map[string]any{"data": all, "loss_fn": l.Name}
	if len(l.Config) > 0 {
		in["loss_fn_config"] = l.Config
	}
	return in, nil
}
