package train

// forward computes a pack, keeps the inputs of its layers on its tape and finds the log
// probabilities that are asked for. One block goes through all layers; of several, all go
// through a layer before the next: so keys and values of one layer are enough, see bring.
func (p *pass) forward(k *pack) error {
	if len(k.blocks) > 1 {
		return p.forwardWide(k)
	}
	p.keepInside(k)
	b := k.blocks[0]
	runs := p.runs(k, b)
	if err := p.do(func() { p.step.Begin(runs) }); err != nil {
		return err
	}
	for i := 0; i < p.m.Layers; {
		end := min(i+p.layersPer(b.hi-b.lo), p.m.Layers)
		if err := p.layers(k, b, i, end); err != nil {
			return err
		}
		i = end
	}
	return p.end(k, b)
}

// layersPer is how many layers of n rows make a piece.
func (p *pass) layersPer(n int) int {
	if p.arena.InFile() {
		return 1
	}
	return max(1, p.g.o.Rows/n)
}

// layers computes layers [from, end) in one piece.
func (p *pass) layers(k *pack, b block, from, end int) error {
	size := (b.hi - b.lo) * p.m.D
	if p.keeps(k) {
		p.kept = sized(p.kept, (end-from)*size)
	}
	if err := p.bring(k, from, end); err != nil {
		return err
	}
	if err := p.do(func() {
		for i := from; i < end; i++ {
			if in := p.insideOf(k, i); in != nil {
				p.step.LayerInside(i, p.input(k, i-from, size), in)
			} else {
				p.step.Layer(i, p.input(k, i-from, size))
			}
		}
	}); err != nil {
		return err
	}
	if err := p.leave(k, from, true); err != nil || !p.keeps(k) {
		return err
	}
	for i := from; i < end; i++ {
		if err := k.stretches[0].tape.Put(i, b.lo, p.input(k, i-from, size)); err != nil {
			return err
		}
	}
	return nil
}

// input is the place of a layer's input among those of the piece.
func (p *pass) input(k *pack, i, size int) []float32 {
	if !p.keeps(k) {
		return nil
	}
	return p.kept[i*size:][:size]
}

// end finishes a block and takes its log probabilities.
func (p *pass) end(k *pack, b block) error {
	size := (b.hi - b.lo) * p.m.D
	if p.keeps(k) {
		p.kept = sized(p.kept, size)
	}
	kept := p.input(k, 0, size)
	var hidden []float32
	if err := p.do(func() { hidden = p.step.End(kept) }); err != nil {
		return err
	}
	if kept != nil {
		if err := k.stretches[0].tape.Put(p.m.Layers, b.lo, kept); err != nil {
			return err
		}
	}
	return p.score(k, b, hidden)
}

// forwardWide is forward of several blocks. What a layer gives lies on the tape, in the
// place of its input where the inputs are not kept.
func (p *pass) forwardWide(k *pack) error {
	entry := func(i int) int { return i }
	if !p.keeps(k) {
		entry = func(int) int { return 0 }
	}
	if err := p.eachBlock(k, -1, entry(0), func(b block, x []float32) { p.step.Embed(p.runs(k, b), x) }); err != nil {
		return err
	}
	for i := range p.m.Layers {
		if err := p.bring(k, i, i+1); err != nil {
			return err
		}
		if err := p.eachBlock(k, entry(i), entry(i+1), func(b block, x []float32) { p.step.Through(p.runs(k, b), i, x) }); err != nil {
			return err
		}
		if err := p.leave(k, i, true); err != nil {
			return err
		}
	}
	for _, b := range k.blocks {
		if !k.stretches[0].asked(b) {
			continue
		}
		x := p.rows(b)
		if err := k.stretches[0].tape.Get(entry(p.m.Layers), b.lo, x); err != nil {
			return err
		}
		var hidden []float32
		if err := p.do(func() { hidden = p.step.Last(p.runs(k, b), x) }); err != nil {
			return err
		}
		if err := p.score(k, b, hidden); err != nil {
			return err
		}
	}
	return nil
}

// eachBlock takes the blocks of a pack, one piece each, from one entry of its tape, -1 for
// none, to another.
func (p *pass) eachBlock(k *pack, from, to int, piece func(b block, x []float32)) error {
	tape := k.stretches[0].tape
	for _, b := range k.blocks {
		x := p.rows(b)
		if from >= 0 {
			if err := tape.Get(from, b.lo, x); err != nil {
				return err
			}
		}
		if err := p.do(func() { piece(b, x) }); err != nil {
			return err
		}
		if err := tape.Put(to, b.lo, x); err != nil {
			return err
		}
	}
	return nil
}

// rows is room for what a layer reads of a block.
func (p *pass) rows(b block) []float32 {
	p.kept = sized(p.kept, (b.hi-b.lo)*p.m.D)
	return p.kept
}

// asked tells whether a log probability of a block's rows is asked for.
func (s *stretch) asked(b block) bool {
	if s.asks == nil {
		return false
	}
	for _, a := range s.asks[b.lo:b.hi] {
		if a != nil {
			return true
		}
	}
	return false
}

func sized(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}
