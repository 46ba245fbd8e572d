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
		p.logits(len(rows), hidden)
		p.pool.Run(len(rows), func(_, i int) {
			logits := h.row(i, p.m.V)
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

// logits computes the logits of n hidden states.
func (p *pass) logits(n int, hidden []float32) {
	h := &p.head
	h.logits, h.mixes = sized(h.logits, n*p.m.V), h.mixes[:0]
	for range n {
		h.mixes = append(h.mixes, p.mix)
	}
	p.step.Logits(h.logits, hidden, h.mixes)
}

func (h *headRoom) row(i, v int) []float32 { return h.logits[i*v:][:v] }
