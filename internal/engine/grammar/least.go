package grammar

import "macaron/internal/engine/grammar/rtn"

// Rest is how many bytes the shortest text has that ends the answer from here: no more
// tokens are needed where each byte is a token. 0 means that it may end here.
func (m *Matcher) Rest() int {
	if m.accepting || m.ended {
		return 0
	}
	r := m.g.rests()
	best := rtn.Endless
	for _, it := range m.items {
		best = min(best, r.of(it))
	}
	return best
}

// Shortest is a text of Rest bytes that ends the answer from here; of several the first
// in the order of bytes.
func (m *Matcher) Shortest() []byte {
	var out []byte
	c := m.Clone()
	for left := c.Rest(); left > 0 && left < rtn.Endless; left = c.Rest() {
		b, ok := c.byteNearer(left)
		if !ok {
			break
		}
		out = append(out, b)
	}
	return out
}

// byteNearer takes the first byte after which less is left.
func (m *Matcher) byteNearer(left int) (byte, bool) {
	r := m.g.rests()
	for b := range 0x100 {
		if !r.worth(m.items, byte(b), left) {
			continue
		}
		c := m.Clone()
		if c.AcceptBytes([]byte{byte(b)}) == nil && c.Rest() < left {
			*m = *c
			return byte(b), true
		}
	}
	return 0, false
}

// Nearer sets the bits of the tokens that begin the shortest text to the end, or of those
// that end an answer where it may end, and clears the others.
func (m *Matcher) Nearer(dst []uint64) { m.g.v.towards(dst, m.Shortest()) }

// towards sets the bits of the tokens that begin a text, or of those that end an answer
// where there is none, and clears the others.
func (v *Vocab) towards(dst []uint64, text []byte) {
	clear(dst)
	if len(text) == 0 {
		for _, id := range v.end {
			set(dst, id)
		}
	}
	t := &v.trie
	for i := int32(0); i < int32(len(t.sym)); {
		d := int(t.depth[i])
		if d > len(text) || t.sym[i] != text[d-1] {
			i = t.skip[i]
			continue
		}
		if id := t.token[i]; id >= 0 {
			set(dst, id)
		}
		for _, id := range t.more[i] {
			set(dst, id)
		}
		i++
	}
}

// rests knows how far the nodes and frames of a grammar are from the end.
type rests struct {
	p     *rtn.Program
	least []int32
	known map[*frame]int
}

// rests finds the distances once; those of frames are a matcher's own.
func (g *Grammar) rests() *rests {
	g.leastOnce.Do(func() { g.least = g.p.Least() })
	return &rests{p: g.p, least: g.least, known: map[*frame]int{}}
}

func (r *rests) of(it item) int { return plus(int(r.least[it.node]), r.frame(it.f)) }

// frame is the fewest bytes behind the end of a frame's rule.
func (r *rests) frame(f *frame) int {
	if f == bottom {
		return 0
	}
	if n, ok := r.known[f]; ok {
		return n
	}
	best := rtn.Endless
	for _, c := range f.callers {
		best = min(best, plus(int(r.least[c.to]), r.frame(c.parent)))
	}
	r.known[f] = best
	return best
}

// worth tells whether a byte can be the next of a shortest text, by a look at the items
// that can take it.
func (r *rests) worth(items []item, b byte, left int) bool {
	for _, it := range items {
		if r.of(it) > left {
			continue
		}
		for _, s := range r.p.Steps(it.node) {
			if s.Lo <= b && b <= s.Hi {
				return true
			}
		}
		for _, c := range r.p.Calls(it.node) {
			if r.p.First[c.Rule][b>>6]>>(b&63)&1 != 0 {
				return true
			}
		}
	}
	return false
}

func plus(a, b int) int { return min(a+b, rtn.Endless) }
