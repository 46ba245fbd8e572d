package train

import (
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
)

// backHead carries the slopes of a pack's log probabilities back through the head and the
// last normalisation, into dx [rows, d]. With p = softmax(logits), a log probability of
// target t changes by onehot(t) - p with the logits. Rows whose slopes are zero are left
// out. Logits that were not kept are computed again, some rows at a time.
func (p *pass) backHead(k *pack, dx []float32) error {
	clear(dx)
	final, err := p.steepRows(k)
	if err != nil {
		return err
	}
	h, d := &p.head, p.m.D
	w, norm := p.m.Head()
	h.hidden = sized(h.hidden, len(final))
	pieces := []headPiece{func(lo int, rows []headRow, hidden []float32) {
		p.each(len(rows), func(i int) { kernel.RMSNorm(hidden[i*d:][:d], final[(lo+i)*d:][:d], norm, p.m.Eps) })
		p.again(k, rows, hidden)
		p.each(len(rows), func(i int) {
			logits := h.row(i, p.m.V)
			kernel.LogProbBack(logits, kernel.LogSumExp(logits), rows[i].targets, rows[i].slopes)
		})
		p.back.h = sized(p.back.h, len(rows)*d)
	}}
	for v := 0; v < p.m.V; v += headColumns { // as much of the vocabulary as makes a piece
		term := kernel.Term{W: w, Stride: p.m.V, Lo: v, Hi: min(v+headColumns, p.m.V)}
		pieces = append(pieces, func(_ int, rows []headRow, _ []float32) {
			term.Y = h.logits[term.Lo:]
			kernel.MatMulBack(p.pool, kernel.Back{Dst: p.back.h, N: len(rows), Add: term.Lo > 0, Terms: []kernel.Term{term}})
		})
	}
	return p.chunks(append(pieces, func(lo int, rows []headRow, hidden []float32) {
		p.carry(0, len(rows), hidden, p.back.h, true, linear{lora.Head, nil, h.logits})
		p.each(len(rows), func(i int) {
			kernel.RMSNormBack(dx[rows[i].row*d:][:d], p.back.h[i*d:][:d], final[(lo+i)*d:][:d], norm, p.m.Eps)
		})
	})...)
}

// steepRows finds the rows whose log probabilities have a slope, and gives what the last
// normalisation read of them [rows, d].
func (p *pass) steepRows(k *pack) ([]float32, error) {
	h, d := &p.head, p.m.D
	h.rows, h.final = h.rows[:0], h.final[:0]
	asked := 0
	for row := range k.rows {
		s, i := k.at(row)
		if s.asks == nil || s.asks[i] == nil {
			continue
		}
		r := p.slopesOf(row, s.asks[i])
		r.asked = asked
		asked++
		if len(r.targets) == 0 {
			continue
		}
		h.rows = append(h.rows, r)
		h.final = append(h.final, make([]float32, d)...)
		if err := s.tape.Get(p.m.Layers, s.taped+i, h.final[len(h.final)-d:]); err != nil {
			return nil, err
		}
	}
	return h.final, nil
}

// slopesOf takes the asks of a row that have a slope.
func (p *pass) slopesOf(row int, asks []ask) headRow {
	r := headRow{row: row}
	for _, a := range asks {
		if f := p.slopes[a.seq][a.at]; f != 0 {
			r.targets, r.slopes = append(r.targets, a.target), append(r.slopes, f)
		}
	}
	return r
}

// each calls f for each of n rows, on all threads.
func (p *pass) each(n int, f func(i int)) {
	const rows = 4 // worth handing over
	p.pool.Run((n+rows-1)/rows, func(_, task int) {
		for i := task * rows; i < min(n, (task+1)*rows); i++ {
			f(i)
		}
	})
}
