package train

import (
	"slices"

	"macaron/internal/engine/model"
)

// pack is stretches that are computed together, all continuing the same one: several
// that nothing continues, or one. Its rows are theirs, one stretch after the other.
type pack struct {
	stretches []*stretch
	rows      int
	blocks    []block
	taped     int64 // bytes of its tape
}

// block is the rows of a pack that go through a layer at once: all of them, or a part
// of its only stretch.
type block struct{ lo, hi int }

// packs groups what continues a stretch: ends of the tree as many as fit into a block. What
// continues a prompt that gradients do not enter is computed one at a time.
func (s *stretch) packs(by rowsBy) []*pack {
	var list []*pack
	var open *pack // of ends
	for _, c := range s.children {
		n := c.hi - c.lo
		if len(c.children) > 0 || s.fixed {
			list = append(list, newPack(c, n))
			continue
		}
		if open == nil || open.rows+n > by.at(c.lo+n) {
			open = newPack(nil, 0)
			list = append(list, open)
		}
		open.stretches, open.rows = append(open.stretches, c), open.rows+n
	}
	for _, k := range list {
		k.cut(by.forward())
	}
	return list
}

func newPack(s *stretch, rows int) *pack {
	k := &pack{rows: rows}
	if s != nil {
		k.stretches = []*stretch{s}
	}
	return k
}

// rowsBy is how many rows are computed at once, by position: a piece of work is a block in
// one layer, and what its attention costs is rows times positions.
type rowsBy struct{ rows, reach int }

func (o *Options) rowsBy() rowsBy { return rowsBy{o.Rows, o.Reach} }

// at is the number of rows of a block that ends before position pos.
func (b rowsBy) at(pos int) int {
	if pos <= b.reach {
		return b.rows
	}
	n := b.rows * b.reach / pos
	if n >= tile {
		n -= n % tile
	}
	return max(n, min(leastRows, b.rows))
}

// forward is by for forward passes, whose attention costs less than half.
func (b rowsBy) forward() rowsBy { return rowsBy{b.rows, 2 * b.reach} }

const (
	tile      = 16 // rows that kernels take together
	leastRows = 4
)

// cut divides the rows into blocks.
func (k *pack) cut(by rowsBy) {
	k.blocks = k.blocks[:0]
	row := 0
	for _, s := range k.stretches {
		s.first = row
		row += s.hi - s.lo
	}
	for lo, start := 0, k.start(); lo < k.rows; {
		n := k.rows // several stretches are one block, see packs
		if len(k.stretches) == 1 {
			n = min(by.at(start+lo+by.at(start+lo)), k.rows-lo)
		}
		k.blocks = append(k.blocks, block{lo, lo + n})
		lo += n
	}
}

// start is the first position of a pack.
func (k *pack) start() int {
	if len(k.stretches) == 0 {
		return 0
	}
	return k.stretches[0].lo
}

// runs are the rows of a block as a step takes them, one run for each stretch.
func (p *pass) runs(k *pack, b block) []model.Run {
	p.list = p.list[:0]
	for _, s := range k.stretches {
		lo, hi := s.within(b)
		p.list = append(p.list, model.Run{Tokens: s.tokens[lo:hi], Pos: s.lo + lo, Pages: s.pages, Mix: p.mix, Want: hi - lo})
	}
	return p.list
}

// within is which of its own rows, [lo, hi), are in a block.
func (s *stretch) within(b block) (lo, hi int) {
	return max(b.lo, s.first) - s.first, min(b.hi, s.first+s.hi-s.lo) - s.first
}

// living is the stretches of a pack through which a gradient comes; the pack itself if
// these are all.
func (k *pack) living(by rowsBy) *pack {
	if !slices.ContainsFunc(k.stretches, func(s *stretch) bool { return !s.live }) {
		return k
	}
	out := &pack{}
	for _, s := range k.stretches {
		if s.live {
			out.stretches = append(out.stretches, s)
			out.rows += s.hi - s.lo
		}
	}
	out.cut(by)
	return out
}

// at is the stretch and its row of a row of the pack.
func (k *pack) at(row int) (s *stretch, i int) {
	for _, s := range k.stretches {
		if row < s.first+s.hi-s.lo {
			return s, row - s.first
		}
	}
	panic("train: a row beyond its pack")
}
