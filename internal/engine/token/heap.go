package token

// The merges that are possible in a word: a binary heap whose top is the smallest
// rank<<32 | position.

func (m *merger) push(v uint64) {
	m.heap = append(m.heap, v)
	i := len(m.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if m.heap[up] <= v {
			break
		}
		m.heap[i] = m.heap[up]
		i = up
	}
	m.heap[i] = v
}

func (m *merger) pop() uint64 {
	top := m.heap[0]
	last := len(m.heap) - 1
	v := m.heap[last]
	m.heap = m.heap[:last]
	i := 0
	for {
		down := 2*i + 1
		if down >= last {
			break
		}
		if down+1 < last && m.heap[down+1] < m.heap[down] {
			down++
		}
		if v <= m.heap[down] {
			break
		}
		m.heap[i] = m.heap[down]
		i = down
	}
	if last > 0 {
		m.heap[i] = v
	}
	return top
}
