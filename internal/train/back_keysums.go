package train

// keySums are gradients of the keys and values of a stretch, by layer [hi-lo, g*c], added up
// over what continues it. They are there from the first addition on.
type keySums struct{ k, v [][]float32 }

// add takes in what a pack found for some layer; k and v begin at the stretch's first
// position.
func (s *keySums) add(layer, layers int, k, v []float32) {
	if s.k == nil {
		s.k, s.v = make([][]float32, layers), make([][]float32, layers)
	}
	if s.k[layer] == nil {
		s.k[layer], s.v[layer] = append([]float32(nil), k...), append([]float32(nil), v...)
		return
	}
	for i, f := range k {
		s.k[layer][i] += f
	}
	for i, f := range v {
		s.v[layer][i] += f
	}
}

// take moves a layer's sums to k and v, zeros if there are none.
func (s *keySums) take(layer int, k, v []float32) {
	clear(k)
	clear(v)
	if s.k != nil && s.k[layer] != nil {
		copy(k, s.k[layer])
		copy(v, s.v[layer])
		s.k[layer], s.v[layer] = nil, nil
	}
}
