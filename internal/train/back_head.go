package train

import (
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
)

// backHead carries the slopes of a pack's log probabilities back through the head and the
// last normalisation, into dx [rows, d]. With p = softmax(logits), a log probability of
// target t changes by onehot(t) - p with the logits. Rows whose slopes are zero are left
// out. The logits are computed again, some rows at a time.
func (p *pass) backHead(k *pack, dx []float32) error {
	clear(dx)
	h, d := &p.head, p.m.D
	w, norm := p.m.Head()
	h.rows = h.rows[:0]
	for row := range k.rows {
		s, i := k.at(row)
		if s.asks == nil {
			continue
		}
		if r := p.slopesOf(row, s.asks[i]); len(r.targets) > 0 {
			h.rows = append(h.rows, r)
		}
	}
	final := sized(nil, len(h.rows)*d) // what the last normalisation read
	for i, r := range h.rows {
		s, at := k.at(r.row)
		if err := s.tape.Get(p.m.Layers, s.taped+at, final[i*d:][:d]); err != nil {
			return err
		}
	}
	h.hidden = sized(h.hidden, len(final))
	done := 0
	return p.chunks(func(rows []headRow, hidden []float32) {
		n, x := len(rows), final[done*d:]
		done += n
		p.each(n, func(i int) { kernel.RMSNorm(hidden[i*d:][:d], x[i*d:][:d], norm, p.m.Eps) })
		p.logits(n, hidden)
		p.each(n, func(i int) {
			logits := h.row(i, p.m.V)
			kernel.LogProbBack(logits, kernel.LogSumExp(logits), rows[i].targets, rows[i].slopes)
		})
		p.back.h = sized(p.back.h, n*d)
		p.through(0, n, hidden, p.back.h, linear{lora.Head, w, h.logits})
		p.each(n, func(i int) {
			kernel.RMSNormBack(dx[rows[i].row*d:][:d], p.back.h[i*d:][:d], x[i*d:][:d], norm, p.m.Eps)
		})
	})
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
