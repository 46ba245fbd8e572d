package recipe

import (
	"context"
	"math"

	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/train"
)

// dpo prefers one answer to another: L = -log sigmoid(beta ((c - c0) - (r - r0))), where c
// and r are the log probabilities of the chosen and the rejected answer, c0 and r0 those
// of where the training began. The mean over the batch's pairs.
type dpo struct {
	r       *Recipe
	m       *Machine
	start   *lora.Adapter
	pairs   []row // chosen and rejected in turn
	heldOut []row
	batches [][]int
	refs    map[int]float64 // sums of log probabilities at the start, by row of pairs
}

func newDPO(r *Recipe, m *Machine, lines, heldOut []line, start *lora.Adapter) (method, error) {
	d := &dpo{r: r, m: m, start: start, refs: map[int]float64{}}
	var err error
	if d.pairs, err = d.encode(lines); err != nil {
		return nil, err
	}
	if d.heldOut, err = d.encode(heldOut); err != nil {
		return nil, err
	}
	if len(d.pairs) == 0 {
		return nil, errs.New(errs.InvalidRequest, "no pair is left to train on", "rows of dpo have messages, chosen and rejected")
	}
	first := make([]row, len(d.pairs)/2)
	for i := range first {
		first[i] = d.pairs[2*i]
	}
	d.batches, err = r.plan(first)
	return d, err
}

// encode makes two rows of each line.
func (d *dpo) encode(lines []line) ([]row, error) {
	var out []row
	for i := range lines {
		l := &lines[i]
		if len(l.Messages) == 0 || l.Chosen == "" || l.Rejected == "" {
			return nil, errs.Newf(errs.FormatInvalid, "row %d has no messages, chosen or rejected", i+1)
		}
		pair, err := d.r.encodeAll(d.m, []line{l.with(l.Chosen), l.with(l.Rejected)})
		if err != nil {
			return nil, err
		}
		if len(pair) == 2 {
			out = append(out, pair...)
		}
	}
	return out, nil
}

// with is the line's conversation with an answer, which alone is learned.
func (l *line) with(answer string) line {
	all := append(append([]message{}, l.Messages...), message{"assistant", answer})
	return line{Messages: all, Train: []int{len(all) - 1}, Group: l.Group}
}

func (d *dpo) steps() int     { return len(d.batches) }
func (d *dpo) whole(int) bool { return true }

func (d *dpo) pass(ctx context.Context, t *train.Trainer, step int) (report, error) {
	var which []int
	for _, i := range d.batches[step] {
		which = append(which, 2*i, 2*i+1)
	}
	if err := d.refer(ctx, which); err != nil {
		return report{}, err
	}
	var rows []row
	var refs []float64
	for _, i := range which {
		rows, refs = append(rows, d.pairs[i]), append(refs, d.refs[i])
	}
	data, out, tokens, err := d.compare(ctx, t, rows, refs)
	if err != nil {
		return report{}, err
	}
	_, err = d.r.passes(ctx, t, data, crossEntropy)
	return report{metrics: out, tokens: tokens}, err
}

// refer computes what the start of the training thought of some rows.
func (d *dpo) refer(ctx context.Context, which []int) error {
	for _, i := range which {
		if _, ok := d.refs[i]; ok {
			continue
		}
		sum, err := d.m.sum(ctx, d.start, &d.pairs[i])
		if err != nil {
			return err
		}
		d.refs[i] = sum
	}
	return nil
}

// sum is the log probability of what a row learns, by an adapter.
func (m *Machine) sum(ctx context.Context, a *lora.Adapter, r *row) (float64, error) {
	seq := r.sequence()
	p, err := m.Passes.Logprobs(ctx, a, []train.Sequence{seq})
	if err != nil {
		return 0, err
	}
	return total(p[0]), nil
}

// sequence asks for the log probabilities of what a row learns.
func (w *row) sequence() train.Sequence {
	n := len(w.tokens) - 1
	s := train.Sequence{Tokens: w.tokens[:n], Targets: make([]int32, n), K: 1}
	for i := range n {
		if s.Targets[i] = -1; w.weights[i+1] != 0 {
			s.Targets[i] = w.tokens[i+1]
		}
	}
	return s
}

func total(p []float32) float64 {
	sum := 0.0
	for _, v := range p {
		sum += float64(v)
	}
	return sum
}

// compare gives the data whose cross entropy has the gradient of the preference loss: the
// derivative by an answer's log probability, negated, is the weight of each of its tokens.
func (d *dpo) compare(ctx context.Context, t *train.Trainer, rows []row, refs []float64) (data []train.Datum, metrics map[string]float64, tokens int, err error) {
	for i := range rows {
		data = append(data, rows[i].datum(1))
		tokens += len(rows[i].tokens)
	}
	out, err := t.Forward(ctx, data, crossEntropy)
	if err != nil {
		return nil, nil, 0, err
	}
	pairs := float64(len(rows) / 2)
	var loss, right, margins float64
	for i := 0; i < len(rows); i += 2 {
		margin := d.r.DPO.Beta * ((total(out.Logprobs[i].Floats) - refs[i]) - (total(out.Logprobs[i+1].Floats) - refs[i+1]))
		loss += softplus(-margin)
		margins += margin
		if margin > 0 {
			right++
		}
		slope := d.r.DPO.Beta / (1 + math.Exp(margin)) / pairs
		scale(data[i], slope)
		scale(data[i+1], -slope)
	}
	return data, map[string]float64{"loss": loss / pairs, "accuracy": right / pairs, "margin": margins / pairs}, tokens, nil
}

func scale(d train.Datum, by float64) {
	w := d.Inputs["weights"].Floats
	for i := range w {
		w[i] *= float32(by)
	}
}

// softplus is log(1 + e^x).
func softplus(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

func (d *dpo) evaluate(ctx context.Context, t *train.Trainer) (map[string]float64, error) {
	if len(d.heldOut) == 0 {
		return nil, nil
	}
	var refs []float64
	for i := range d.heldOut {
		sum, err := d.m.sum(ctx, d.start, &d.heldOut[i])
		if err != nil {
			return nil, err
		}
		refs = append(refs, sum)
	}
	_, m, _, err := d.compare(ctx, t, d.heldOut, refs)
	return map[string]float64{"held_out_loss": m["loss"], "held_out_accuracy": m["accuracy"]}, err
}
