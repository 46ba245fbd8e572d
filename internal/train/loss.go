package train

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"macaron/internal/errs"
)

// lossKind is a loss: what it reads, what can be set, and the term of one token.
type lossKind struct {
	policy   bool // a policy gradient: it reads logprobs and advantages, else weights
	clipped  bool // it reads thresholds for the ratio, from the settings or token by token
	sequence bool // one ratio for all tokens that sequence_ratio_mask marks
	settings []setting
	term     func(*token, *settings) (loss, slope float64)
}

// lossKinds are the losses by name, with the formulas of the Tinker documentation.
var lossKinds = map[string]*lossKind{
	"cross_entropy":       {term: crossEntropy},
	"importance_sampling": {policy: true, settings: mismatchSettings, term: importanceSampling},
	"ppo":                 {policy: true, clipped: true, settings: thresholds(0.8, 1.2), term: clippedRatio},
	"cispo":               {policy: true, clipped: true, settings: thresholds(0, 4), term: clippedWeight},
	"dro":                 {policy: true, settings: append([]setting{{"beta", 0.05, 0}}, mismatchSettings...), term: directReward},
	"gspo":                {policy: true, clipped: true, sequence: true, settings: thresholds(0.8, 1.2), term: clippedRatio},
}

// LossNames are the losses that Loss.Name can be, sorted.
func LossNames() []string { return slices.Sorted(maps.Keys(lossKinds)) }

// kindOf finds a loss.
func kindOf(name string) (*lossKind, error) {
	if k := lossKinds[name]; k != nil {
		return k, nil
	}
	known := strings.Join(LossNames(), ", ")
	switch name {
	case "custom":
		return nil, errs.New(errs.Unsupported, "custom losses are not computed here",
			"compute the loss where the data is, and send its derivative by the log probabilities, negated, as the weights of cross_entropy (the SDK's forward_backward_custom does that)").In("loss_fn")
	case "stable_reinforce":
		return nil, errs.New(errs.Unsupported, "the loss stable_reinforce has no published formula", "use one of "+known).In("loss_fn")
	}
	return nil, errs.New(errs.InvalidRequest, fmt.Sprintf("there is no loss %q", errs.Clip(name)), "use one of "+known).In("loss_fn")
}

// Check refuses a loss that is not there, or a setting that it does not have or cannot take.
func (l Loss) Check() error {
	kind, err := kindOf(l.Name)
	if err == nil {
		_, err = kind.read(l)
	}
	return err
}

// Policy tells whether a loss is a policy gradient: its data have log probabilities of the
// sampling, and advantages.
func (l Loss) Policy() bool { k := lossKinds[l.Name]; return k != nil && k.policy }

// Sequence tells whether a loss has one ratio for all tokens that sequence_ratio_mask marks.
func (l Loss) Sequence() bool { k := lossKinds[l.Name]; return k != nil && k.sequence }

// evaluation is a loss over some data: what the passes ask for, and what they told.
type evaluation struct {
	kind *lossKind
	set  settings
	rows []row
	seqs []Sequence
	out  [][]float32 // log probabilities by sequence
}

// newEvaluation checks a loss and its data. Targets must be below vocab.
func newEvaluation(data []Datum, l Loss, vocab, context int) (*evaluation, error) {
	kind, err := kindOf(l.Name)
	if err != nil {
		return nil, err
	}
	e := &evaluation{kind: kind, rows: make([]row, len(data)), seqs: make([]Sequence, len(data)), out: make([][]float32, len(data))}
	if e.set, err = kind.read(l); err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, errs.New(errs.InvalidRequest, "there is no datum", "send at least one").In("data")
	}
	for i := range data {
		in := reader{kind: kind, loss: l.Name, datum: i, d: &data[i], vocab: vocab, context: context}
		if e.rows[i], err = in.row(); err != nil {
			return nil, err
		}
		e.seqs[i] = Sequence{Tokens: data[i].Tokens, Targets: e.rows[i].targets, K: e.rows[i].k, Prompt: e.rows[i].prompt(l.Name)}
	}
	return e, nil
}

// see takes a sequence's log probabilities and gives the derivative of its loss by them.
func (e *evaluation) see(seq int, p []float32) []float32 {
	r := &e.rows[seq]
	e.out[seq] = slices.Clone(p)
	slopes := make([]float32, len(p))
	ratio := e.sequenceRatio(r, p)
	for i := range p {
		if r.targets[i] < 0 {
			continue
		}
		t := r.token(i, float64(p[i]), &e.set)
		t.setRatio(ratio)
		weight := 1.0
		if e.kind.policy {
			weight = t.correct(&e.set)
		}
		loss, slope := e.kind.term(&t, &e.set)
		r.loss += weight * loss
		slopes[i] = float32(weight * slope)
		r.sums.add(&t, weight)
	}
	return slopes
}

// output is what a pass found, summed in the order of the data.
func (e *evaluation) output() Output {
	out := Output{Logprobs: make([]Tensor, len(e.rows))}
	var loss float64
	var all sums
	for i := range e.rows {
		r := &e.rows[i]
		out.Logprobs[i] = Tensor{Floats: e.out[i], Shape: r.shape}
		loss += r.loss
		all.merge(&r.sums)
	}
	out.Metrics = all.metrics(e.kind)
	out.Metrics["loss:sum"] = loss
	return out
}
