package train

import (
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/model"
)

// insides is what happens inside the layers of a pack of one block that nothing continues:
// it goes back as soon as it has come forward, so that much may stay and need not be
// computed again.
type insides struct {
	room []float32
	free func()
	pack *pack
	list []*model.Interior // by layer, nil where it is computed again

	logits []float32 // [rows, v] of the head, whose room comes first; shorter than that: not kept
	scored int       // rows of it that are there
}

// keepInside makes room for the interiors of a pack, as many as Options.Inside allows.
func (p *pass) keepInside(k *pack) {
	in := &p.insides
	in.pack, in.list = nil, in.list[:0]
	if !p.keeps(k) || p.g.o.Inside < 0 || !k.ends() {
		return
	}
	width, used := p.m.InteriorLen(), k.askedRows()*p.m.V
	if int64(used) > p.g.o.Inside/8 { // the head would leave little to the layers
		used = 0
	}
	need := int64(used) + int64(k.rows)*int64(width)*int64(p.m.Layers-p.to.lowest)
	if size := int(min(need, p.g.o.Inside/4)); len(in.room) < size {
		in.drop()
		in.room, in.free = kernel.Borrow(size)
	}
	in.logits, in.scored = in.room[:used], 0
	for i := range p.m.Layers {
		var at *model.Interior
		if end := used + k.rows*width; i >= p.to.lowest && end <= len(in.room) {
			at, used = p.m.NewInterior(in.room[used:end], k.rows), end
		}
		in.list = append(in.list, at)
	}
	in.pack = k
}

// logitsOf is where the logits of the next n rows of a pack are kept, nil if they are not.
func (p *pass) logitsOf(k *pack, n int) []float32 {
	in := &p.insides
	if in.pack != k || (in.scored+n)*p.m.V > len(in.logits) {
		return nil
	}
	in.scored += n
	return in.logits[(in.scored-n)*p.m.V : in.scored*p.m.V]
}

// drop gives the memory back.
func (in *insides) drop() {
	if in.room != nil {
		in.free()
		in.room, in.logits = nil, nil
	}
}

// askedRows is how many rows have a log probability that is asked for.
func (k *pack) askedRows() int {
	n := 0
	for _, s := range k.stretches {
		for _, a := range s.asks {
			if a != nil {
				n++
			}
		}
	}
	return n
}

// ends tells whether nothing continues a pack.
func (k *pack) ends() bool {
	for _, s := range k.stretches {
		if len(s.children) > 0 {
			return false
		}
	}
	return true
}

// insideOf is where the interior of a layer of a pack is kept, nil if it is not.
func (p *pass) insideOf(k *pack, i int) *model.Interior {
	if in := &p.insides; in.pack == k {
		return in.list[i]
	}
	return nil
}
