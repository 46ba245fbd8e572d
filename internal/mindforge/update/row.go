package update

import (
	"macaron/internal/canonical"
	"macaron/internal/ids"
	"macaron/internal/train"
	"macaron/internal/trajectory"
)

// Row is a sequence that is trained on, as it was served: nothing is tokenised again. What
// the model said has the weight 1; the prompt and what tools gave are read alone.
type Row struct {
	Tokens    []int32   `json:"tokens"`
	Said      []bool    `json:"said"`      // of each token
	Logprobs  []float32 `json:"logprobs"`  // as served; 0 where nothing was said
	Advantage float64   `json:"advantage"` // of grpo
	Group     string    `json:"group"`     // family and form; of grpo the task
}

// rowsOf are the rows of a run that may be trained on.
func rowsOf(t trajectory.Trainable, group string) ([]Row, error) {
	parts, err := t.GRPO()
	if err != nil {
		return nil, err
	}
	var out []Row
	for _, p := range parts {
		n := len(p.Prompt)
		r := Row{Tokens: append(append([]int32{}, p.Prompt...), p.Completion...), Group: group}
		r.Said, r.Logprobs = make([]bool, len(r.Tokens)), make([]float32, len(r.Tokens))
		for i, m := range p.Mask {
			r.Said[n+i], r.Logprobs[n+i] = m == 1, p.Logprobs[i]
		}
		out = append(out, r)
	}
	return out, nil
}

// learned is the number of tokens that were said, the first token aside: nothing predicts it.
func (r *Row) learned() (n int) {
	for i, yes := range r.Said {
		if yes && i > 0 {
			n++
		}
	}
	return n
}

// datum is a row as a loss reads it, divided by what the batch has: tokens that are learned
// (sft), or rows (grpo). Position i predicts token i+1.
func (r *Row) datum(method string, whole float64) train.Datum {
	n := len(r.Tokens) - 1
	targets, a, b := make([]int64, n), make([]float32, n), make([]float32, n)
	for i := range n {
		targets[i] = -1
		if !r.Said[i+1] {
			continue
		}
		targets[i] = int64(r.Tokens[i+1])
		if method == GRPO {
			a[i], b[i] = float32(r.Advantage/whole), r.Logprobs[i+1]
		} else {
			a[i] = float32(1 / whole)
		}
	}
	d := train.Datum{Tokens: r.Tokens[:n], Inputs: map[string]train.Tensor{"target_tokens": {Ints: targets}}}
	if method == GRPO {
		d.Inputs["advantages"], d.Inputs["logprobs"] = train.Tensor{Floats: a}, train.Tensor{Floats: b}
	} else {
		d.Inputs["weights"] = train.Tensor{Floats: a}
	}
	return d
}

// digest names rows by everything that training reads of them.
func digest(rows []Row) (ids.Digest, error) { return canonical.Hash(rows) }
