// Package sample turns a row of logits into a token. The order is fixed: penalties,
// temperature, top-k, top-p, min-p, draw. Sums run in a fixed order and the random
// number of a draw is a function of (seed, position) alone, so that a request gives
// the same tokens whatever is computed beside it.
package sample

import (
	"fmt"
	"math"
	"slices"

	"macaron/internal/errs"
)

// Params says how to choose. The zero value is greedy.
type Params struct {
	Temperature       float64 // 0 greedy; at most 100
	TopK              int     // 0 off
	TopP              float64 // 0 or 1 off
	MinP              float64 // 0 off; relative to the likeliest token
	RepetitionPenalty float64 // 0 or 1 off; divides positive and multiplies negative logits of tokens in prompt or output
	PresencePenalty   float64 // taken from the logits of tokens in the output, -2 to 2
	FrequencyPenalty  float64 // the same, times their count
	Bias              []Bias  // added to logits before everything else, each token once
	Seed              uint64
}

// Bias changes the logit of one token; minus infinity forbids it.
type Bias struct {
	ID    int32
	Logit float32
}

// MaxBias bounds what a caller may add to a logit.
const MaxBias = 100

// Without gives the parameters that never choose the tokens.
func (p Params) Without(tokens []int32) Params {
	bias := make([]Bias, 0, len(p.Bias)+len(tokens))
	for _, b := range p.Bias {
		if !slices.Contains(tokens, b.ID) {
			bias = append(bias, b)
		}
	}
	for _, id := range tokens {
		bias = append(bias, Bias{id, float32(math.Inf(-1))})
	}
	p.Bias = bias
	return p
}

// Check refuses values that have no meaning, naming the field.
func (p Params) Check() error {
	for _, f := range []struct {
		name      string
		v, lo, hi float64
	}{
		{"temperature", p.Temperature, 0, 100},
		{"top_k", float64(p.TopK), 0, math.MaxInt32},
		{"top_p", p.TopP, 0, 1},
		{"min_p", p.MinP, 0, 1},
		{"repetition_penalty", p.RepetitionPenalty, 0, 100},
		{"presence_penalty", p.PresencePenalty, -2, 2},
		{"frequency_penalty", p.FrequencyPenalty, -2, 2},
	} {
		if !(f.v >= f.lo && f.v <= f.hi) { // also refuses NaN
			return errs.New(errs.InvalidRequest, fmt.Sprintf("%s is %v", f.name, f.v), fmt.Sprintf("give a value from %v to %v", f.lo, f.hi)).In(f.name)
		}
	}
	for _, b := range p.Bias {
		if b.ID < 0 || !(math.Abs(float64(b.Logit)) <= MaxBias) {
			return errs.New(errs.InvalidRequest, fmt.Sprintf("the bias of token %d is %v", b.ID, b.Logit), fmt.Sprintf("give values from %d to %d", -MaxBias, MaxBias)).In("logit_bias")
		}
	}
	return nil
}

// penalised tells whether logits change before sampling.
func (p Params) penalised() bool {
	return p.RepetitionPenalty != 0 && p.RepetitionPenalty != 1 || p.PresencePenalty != 0 || p.FrequencyPenalty != 0
}

// Greedy tells whether the choice is the likeliest token of the unchanged row.
func (p Params) Greedy() bool { return p.Temperature == 0 && !p.penalised() && len(p.Bias) == 0 }

// History is what penalties look at. Tokens in Exempt, such as the end of a turn,
// are never penalised: a prompt is full of them and the answer needs one.
type History struct {
	exempt map[int32]bool
	counts map[int32]int // of the output; 0 for a token of the prompt alone
}

// NewHistory starts with a prompt.
func NewHistory(prompt, exempt []int32) *History {
	h := &History{exempt: map[int32]bool{}, counts: map[int32]int{}}
	for _, t := range exempt {
		h.exempt[t] = true
	}
	for _, t := range prompt {
		if !h.exempt[t] {
			h.counts[t] = 0
		}
	}
	return h
}

// Add records an output token.
func (h *History) Add(t int32) {
	if !h.exempt[t] {
		h.counts[t]++
	}
}

// penalise changes the logits of seen tokens and gives what restores them.
func (h *History) penalise(logits []float32, p Params, undo []change) []change {
	for t, n := range h.counts {
		if int(t) >= len(logits) {
			continue
		}
		l := logits[t]
		undo = append(undo, change{t, l})
		if r := float32(p.RepetitionPenalty); r != 0 && r != 1 {
			if l > 0 {
				l /= r
			} else {
				l *= r
			}
		}
		if n > 0 {
			l -= float32(p.PresencePenalty) + float32(p.FrequencyPenalty)*float32(n)
		}
		logits[t] = l
	}
	return undo
}

type change struct {
	id    int32
	logit float32
}
