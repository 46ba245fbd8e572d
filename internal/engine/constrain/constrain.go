// Package constrain plans the choice of one label out of several with its exact
// probability, and puts the pieces together.
//
// The probability of a label is the product of the model's own probabilities of its
// tokens and of the end token after them, nothing masked, divided by the sum of that
// over all labels. The end token makes it exact when one label begins with another:
// "L1" and "L10" differ in whether the model would stop after "1". Nothing is sampled;
// the likeliest label is taken, the first among equals.
//
// The tokens that all labels begin with cost nothing: they are appended to the prompt,
// and their probability is a factor of every label. At the point where labels part,
// too, the normalising sum is common, so that only the rows of the head for the tokens
// that follow there are computed. Beyond it every label is scored by itself, all labels
// in one batch over the prompt's shared keys and values.
package constrain

import (
	"fmt"
	"math"
	"slices"

	"macaron/internal/errs"
)

// MaxLabels bounds the labels of one choice.
const MaxLabels = 1024

// Plan is a choice taken apart. It is immutable.
type Plan struct {
	Prefix []int32   // tokens that all labels begin with; to be appended to the prompt
	First  []int32   // the distinct tokens that can follow, ascending
	Tails  [][]int32 // of each label, what comes after Prefix, end token included
}

// New plans a choice. labels are token ids without an end token, distinct and not
// empty; end is the token that ends an answer.
func New(labels [][]int32, end int32) (*Plan, error) {
	if len(labels) == 0 || len(labels) > MaxLabels {
		return nil, errs.New(errs.InvalidRequest, fmt.Sprintf("a choice has 1 to %d labels, not %d", MaxLabels, len(labels)), "").In("choices")
	}
	seen := map[string]int{}
	for i, l := range labels {
		if len(l) == 0 {
			return nil, errs.Newf(errs.InvalidRequest, "label %d is empty", i).In("choices")
		}
		if j, dup := seen[fmt.Sprint(l)]; dup {
			return nil, errs.Newf(errs.InvalidRequest, "labels %d and %d are the same", j, i).In("choices")
		}
		seen[fmt.Sprint(l)] = i
	}
	shared := sharedPrefix(labels)
	p := &Plan{Prefix: slices.Clone(labels[0][:shared])}
	for _, l := range labels {
		tail := append(slices.Clone(l[shared:]), end)
		p.Tails = append(p.Tails, tail)
		if !slices.Contains(p.First, tail[0]) {
			p.First = append(p.First, tail[0])
		}
	}
	slices.Sort(p.First)
	return p, nil
}

func sharedPrefix(labels [][]int32) int {
	n := len(labels[0])
	for _, l := range labels[1:] {
		n = min(n, len(l))
		for i := range n {
			if l[i] != labels[0][i] {
				n = i
				break
			}
		}
	}
	return n
}

// Steps tells how many tokens of label i must be fed to score the rest of it: all of
// its tail but the last.
func (p *Plan) Steps(i int) int { return len(p.Tails[i]) - 1 }

// Probabilities puts the pieces together: first holds the logits of First after the
// prompt and Prefix, rest the sum of the log probabilities of each tail after its first
// token (0 for a tail of one token).
func (p *Plan) Probabilities(first []float32, rest []float64) (probabilities []float64, best int) {
	logs := make([]float64, len(p.Tails))
	for i, tail := range p.Tails {
		at, _ := slices.BinarySearch(p.First, tail[0])
		logs[i] = float64(first[at]) + rest[i]
		if logs[i] > logs[best] {
			best = i
		}
	}
	total, top := 0.0, logs[best]
	for i, l := range logs {
		logs[i] = math.Exp(l - top)
		total += logs[i]
	}
	for i := range logs {
		logs[i] /= total
	}
	return logs, best
}
