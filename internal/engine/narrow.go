package engine

import (
	"math"
	"math/bits"
)

// fewTokens is how many tokens a mask may allow for their rows of the output head to be
// computed alone. Each costs a tile of 16 rows.
const fewTokens = 256

// narrow takes out the rows of which only few tokens' logits matter: no log
// probabilities are asked for, and the grammar allows few. Their logits are those that
// the whole head would give, bit for bit, so the same tokens are sampled.
func (o *results) narrow() {
	o.few = o.few[:0]
	light := false
	for i := range o.rows {
		light = light || o.rows[i].light()
	}
	if !light {
		return
	}
	o.l.pool.Run(len(o.rows), o.masks)
	v, d := o.l.e.model.V, o.l.e.model.D
	if cap(o.at) < v {
		o.at = make([]float32, v)
	}
	rows := 0
	for i := range o.rows {
		r, own := &o.rows[i], o.hidden[i*d:][:d]
		if ids := r.allowed(v); len(ids) > 0 {
			o.sampleAmong(r, own, ids)
			o.few = append(o.few, *r)
			continue
		}
		copy(o.hidden[rows*d:], own)
		o.rows[rows] = *r
		rows++
	}
	o.rows, o.hidden = o.rows[:rows], o.hidden[:rows*d]
}

// sampleAmong computes the logits of some tokens and samples one of them.
func (o *results) sampleAmong(r *rowResult, hidden []float32, ids []int32) {
	part := make([]float32, len(ids))
	o.l.step.LogitsOf(part, hidden, ids, r.mix)
	row := o.at[:o.l.e.model.V]
	for i, id := range ids {
		row[id] = part[i]
	}
	r.id, r.err = r.task.pick(row, &o.l.samplers[0], r.pos+1)
	r.logprob = math.NaN()
}

// light tells whether nothing but a token is asked for.
func (r *rowResult) light() bool {
	if !r.task.light {
		return false
	}
	_, known := r.task.known(r.pos)
	return !known
}

// mask finds the mask of a light row. It runs beside others.
func (r *rowResult) mask() {
	if r.light() {
		r.err = r.task.masked(r.pos + 1)
	}
}

// allowed lists the tokens of a light row's mask, nothing if they are many.
func (r *rowResult) allowed(vocab int) (ids []int32) {
	if !r.light() || r.err != nil {
		return nil
	}
	n := 0
	for _, w := range r.task.mask {
		n += bits.OnesCount64(w)
	}
	if n > fewTokens {
		return nil
	}
	for i, w := range r.task.mask {
		for ; w != 0; w &= w - 1 {
			if id := i*64 + bits.TrailingZeros64(w); id < vocab {
				ids = append(ids, int32(id))
			}
		}
	}
	return ids
}
