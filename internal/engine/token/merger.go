package token

// merger holds the working memory of one encoding. A word of n bytes takes
// O(n log n) time: its symbols are a linked list, its possible merges a heap.
type merger struct {
	t     *Tokenizer
	syms  []symbol
	heap  []uint64 // rank<<32 | position of the left symbol; stale entries are skipped
	cache map[string][]int32
}

// symbol is a token of the word so far; prev and next are positions, -1 at an end.
type symbol struct {
	id, prev, next int32
}

// Limits of the cache of words, which mostly holds the common ones.
const (
	cachedWords   = 4096
	cachedWordLen = 24
)

// words appends the tokens of text, which holds no added token.
func (m *merger) words(out []int32, text string) []int32 {
	for len(text) > 0 {
		n := m.t.split(text)
		out = m.word(out, text[:n])
		text = text[n:]
	}
	return out
}

func (m *merger) word(out []int32, w string) []int32 {
	if len(w) == 1 {
		return m.single(out, w[0])
	}
	if m.t.whole {
		if id, ok := m.t.normal(spelled(w)); ok {
			return append(out, id)
		}
	}
	if ids, ok := m.cache[w]; ok {
		return append(out, ids...)
	}
	start := len(out)
	out = m.merge(out, w)
	if len(w) <= cachedWordLen {
		m.remember(w, out[start:])
	}
	return out
}

func (m *merger) single(out []int32, b byte) []int32 {
	if id := m.t.bytes[b]; id >= 0 {
		return append(out, id)
	}
	return out
}

// remember caches a word, on a copy that holds no longer text alive.
func (m *merger) remember(w string, ids []int32) {
	if m.cache == nil || len(m.cache) >= cachedWords {
		m.cache = make(map[string][]int32)
	}
	m.cache[string([]byte(w))] = append([]int32(nil), ids...)
}

// merge appends the tokens of one word: always the pair of lowest rank becomes
// one, of equal ranks the leftmost, until no pair is left.
func (m *merger) merge(out []int32, w string) []int32 {
	m.load(w)
	for len(m.heap) > 0 {
		top := m.pop()
		rank, at := int32(top>>32), int32(uint32(top))
		left := &m.syms[at]
		if left.id < 0 || left.next < 0 {
			continue
		}
		right := &m.syms[left.next]
		x, ok := m.t.merges[pair(left.id, right.id)]
		if !ok || x.rank != rank {
			continue // one of the two was merged meanwhile
		}
		left.id, right.id = x.id, -1
		if left.next = right.next; left.next >= 0 {
			m.syms[left.next].prev = at
			m.offer(at)
		}
		if left.prev >= 0 {
			m.offer(left.prev)
		}
	}
	if len(m.syms) == 0 {
		return out
	}
	for at := int32(0); at >= 0; at = m.syms[at].next {
		out = append(out, m.syms[at].id)
	}
	return out
}

// load makes one symbol of each byte; bytes without a token are left out.
func (m *merger) load(w string) {
	m.syms, m.heap = m.syms[:0], m.heap[:0]
	for i := range len(w) {
		if id := m.t.bytes[w[i]]; id >= 0 {
			n := int32(len(m.syms))
			m.syms = append(m.syms, symbol{id: id, prev: n - 1, next: n + 1})
		}
	}
	if n := len(m.syms); n > 0 {
		m.syms[n-1].next = -1
	}
	for i := range m.syms {
		m.offer(int32(i))
	}
}

// offer puts the merge of a symbol with its right neighbour on the heap, if it has one.
func (m *merger) offer(at int32) {
	s := m.syms[at]
	if s.next < 0 {
		return
	}
	if x, ok := m.t.merges[pair(s.id, m.syms[s.next].id)]; ok {
		m.push(uint64(x.rank)<<32 | uint64(at))
	}
}

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
