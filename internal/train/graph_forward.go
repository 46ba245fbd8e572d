package train

// forward computes a pack block by block, keeps the inputs of its layers on its tape and
// finds the log probabilities that are asked for.
func (p *pass) forward(k *pack) error {
	for _, b := range k.blocks {
		n := b.hi - b.lo
		runs := p.runs(k, b)
		if err := p.do(func() { p.step.Begin(runs) }); err != nil {
			return err
		}
		for i := 0; i < p.m.Layers; {
			end := min(i+p.layersPer(n), p.m.Layers)
			if err := p.layers(k, b, i, end); err != nil {
				return err
			}
			i = end
		}
		if err := p.end(k, b); err != nil {
			return err
		}
	}
	return nil
}

// layersPer is how many layers of n rows make a piece.
func (p *pass) layersPer(n int) int { return max(1, p.g.o.Rows/n) }

// layers computes layers [from, end) in one piece.
func (p *pass) layers(k *pack, b block, from, end int) error {
	size := (b.hi - b.lo) * p.m.D
	if p.slope != nil {
		p.kept = sized(p.kept, (end-from)*size)
	}
	if err := p.do(func() {
		for i := from; i < end; i++ {
			p.step.Layer(i, p.input(i-from, size))
		}
	}); err != nil || p.slope == nil {
		return err
	}
	for i := from; i < end; i++ {
		if err := k.stretches[0].tape.Put(i, b.lo, p.input(i-from, size)); err != nil {
			return err
		}
	}
	return nil
}

// input is the place of a layer's input among those of the piece.
func (p *pass) input(i, size int) []float32 {
	if p.slope == nil {
		return nil
	}
	return p.kept[i*size:][:size]
}

// end finishes a block and takes its log probabilities.
func (p *pass) end(k *pack, b block) error {
	kept := p.input(0, (b.hi-b.lo)*p.m.D)
	var hidden []float32
	if err := p.do(func() { hidden = p.step.End(kept) }); err != nil {
		return err
	}
	if p.slope != nil {
		if err := k.stretches[0].tape.Put(p.m.Layers, b.lo, kept); err != nil {
			return err
		}
	}
	return p.score(k, b, hidden)
}

func sized(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}
