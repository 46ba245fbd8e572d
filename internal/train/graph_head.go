package train

import (
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
)

const (
	headRows    = 64       // of logits that there are at a time
	headColumns = 256 * 64 // of the vocabulary that go back in a piece, a multiple of what MatMulBack sums at a time
)

// headRoom is the memory of the head's passes.
type headRoom struct {
	rows   []headRow
	hidden []float32 // [rows, d]
	final  []float32 // [rows, d]: what the last normalisation read
	logits []float32 // [headRows, v]
	mixes  []lora.Mix
}

// headRow is a row of a pack whose distribution is needed, with the targets and slopes of
// the log probabilities that are asked for, as many as there are.
type headRow struct {
	row     int
	asked   int // its number among the rows of the pack that are asked for
	asks    []ask
	targets []int32
	slopes  []float32
}

// score computes the log probabilities that are asked for in a block, as the engine does.
func (p *pass) score(k *pack, b block, hidden []float32) error {
	h, d := &p.head, p.m.D
	h.rows, h.hidden = h.rows[:0], h.hidden[:0]
	for row := b.lo; row < b.hi; row++ {
		if s, i := k.at(row); s.asks != nil && s.asks[i] != nil {
			h.rows = append(h.rows, headRow{row: row, asks: s.asks[i]})
			for _, a := range s.asks[i] {
				p.logprobsOf(a.seq) // before threads need it
			}
			h.hidden = append(h.hidden, hidden[(row-b.lo)*d:][:d]...)
		}
	}
	return p.chunks(func(_ int, rows []headRow, hidden []float32) {
		all := p.logitsOf(k, len(rows))
		if all == nil {
			all = h.room(len(rows), p.m.V)
		}
		p.logits(all, hidden)
		p.pool.Run(len(rows), func(_, i int) {
			logits := all[i*p.m.V:][:p.m.V]
			norm := float64(kernel.LogSumExp(logits))
			for _, a := range rows[i].asks {
				p.logprobs[a.seq][a.at] = float32(float64(logits[a.target]) - norm)
			}
		})
	})
}

// headPiece is work on rows of the head, the first of which is lo.
type headPiece func(lo int, rows []headRow, hidden []float32)

// chunks hands out the rows of the head, from lo on some at a time. Of each chunk every
// function is a piece of work.
func (p *pass) chunks(pieces ...headPiece) error {
	h, d := &p.head, p.m.D
	for lo := 0; lo < len(h.rows); lo += headRows {
		hi := min(lo+headRows, len(h.rows))
		for _, piece := range pieces {
			if err := p.do(func() { piece(lo, h.rows[lo:hi], h.hidden[lo*d:hi*d]) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// logits computes the logits [n, v] of hidden states [n, d].
func (p *pass) logits(into, hidden []float32) {
	h := &p.head
	h.mixes = h.mixes[:0]
	for range len(into) / p.m.V {
		h.mixes = append(h.mixes, p.mix)
	}
	p.step.Logits(into, hidden, h.mixes)
}

// again gives logits that were computed on the way forward: those that were kept, or the
// same bits once more.
func (p *pass) again(k *pack, rows []headRow, hidden []float32) {
	h, v := &p.head, p.m.V
	all := h.room(len(rows), v)
	if in := &p.insides; in.pack != k || in.scored == 0 {
		p.logits(all, hidden)
		return
	}
	p.each(len(rows), func(i int) { copy(all[i*v:][:v], p.insides.logits[rows[i].asked*v:]) })
}

// room is memory for the logits of n rows.
func (h *headRoom) room(n, v int) []float32 {
	h.logits = sized(h.logits, n*v)
	return h.logits
}

func (h *headRoom) row(i, v int) []float32 { return h.logits[i*v:][:v] }
