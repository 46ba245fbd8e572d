package train

import "macaron/internal/engine/kernel"

// keySums are gradients of the keys and values of a stretch, by layer [hi-lo, g*c], added up
// over what continues it. They are there from the first addition on, in memory or in a file.
type keySums struct {
	k, v [][]float32

	f   scratch
	has []bool // layers that the file has
}

// add takes in what a pack found for some layer; k and v begin at the stretch's first
// position.
func (s *keySums) add(p *pass, layer int, k, v []float32) error {
	if p.sumsInFile {
		return s.addInFile(p, layer, k, v)
	}
	if s.k == nil {
		s.k, s.v = make([][]float32, p.m.Layers), make([][]float32, p.m.Layers)
	}
	if s.k[layer] == nil {
		s.k[layer], s.v[layer] = append([]float32(nil), k...), append([]float32(nil), v...)
		p.now.Sums += 4 * int64(len(k)+len(v))
		return nil
	}
	plus(s.k[layer], k)
	plus(s.v[layer], v)
	return nil
}

func plus(to, x []float32) {
	for i, f := range x {
		to[i] += f
	}
}

func (s *keySums) addInFile(p *pass, layer int, k, v []float32) (err error) {
	if s.f == nil {
		if s.f, err = p.g.scratch(p.g.o.Spill.Dir); err != nil {
			return err
		}
		s.has = make([]bool, p.m.Layers)
		p.disk(8 * int64(p.m.Layers) * int64(len(k)))
	}
	size := 4 * int64(len(k))
	for half, x := range [][]float32{k, v} {
		at := (2*int64(layer) + int64(half)) * size
		if s.has[layer] {
			p.back.sum = sized(p.back.sum, len(x))
			if _, err := s.f.ReadAt(kernel.FloatBytes(p.back.sum), at); err != nil {
				return spilled(err)
			}
			plus(p.back.sum, x)
			x = p.back.sum
		}
		if _, err := s.f.WriteAt(kernel.FloatBytes(x), at); err != nil {
			return spilled(err)
		}
	}
	s.has[layer] = true
	return nil
}

// take moves a layer's sums to k and v, zeros if there are none.
func (s *keySums) take(p *pass, layer int, k, v []float32) error {
	if s.f != nil && s.has[layer] {
		for half, x := range [][]float32{k, v} {
			if _, err := s.f.ReadAt(kernel.FloatBytes(x), (2*int64(layer)+int64(half))*4*int64(len(x))); err != nil {
				return spilled(err)
			}
		}
		return nil
	}
	clear(k)
	clear(v)
	if s.k != nil && s.k[layer] != nil {
		copy(k, s.k[layer])
		copy(v, s.v[layer])
		s.free(p, layer)
	}
	return nil
}

func (s *keySums) free(p *pass, layer int) {
	p.now.Sums -= 4 * int64(len(s.k[layer])+len(s.v[layer]))
	s.k[layer], s.v[layer] = nil, nil
}

// close lets go of what is left.
func (s *keySums) close(p *pass) error {
	for layer := range s.k {
		s.free(p, layer)
	}
	f := s.f
	*s = keySums{}
	if f == nil {
		return nil
	}
	return f.Close()
}
