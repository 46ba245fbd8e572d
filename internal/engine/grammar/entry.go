package grammar

import (
	"slices"

	"macaron/internal/engine/grammar/rtn"
)

// entry is what is known about the tokens that are allowed at some nodes: those that
// stay within the rule or end with it, and the places of the trie where the rule is
// left within a token. Behind these, next goes on at the nodes of a caller.
type entry struct {
	whole   uint32   // slices that are allowed as a whole
	tokens  []int32  // or bits
	bits    []uint64 // nil when tokens holds them
	escapes []int32
	next    map[string]*entry
}

// bytes estimates the memory of an entry.
func (e *entry) bytes() int { return 200 + 4*cap(e.tokens) + 4*cap(e.escapes) + 8*len(e.bits) }

// or adds the tokens of an entry to a mask.
func (e *entry) or(dst []uint64, parts []slice) {
	for i := range parts {
		if e.whole>>i&1 != 0 {
			orInto(dst, parts[i].bits)
		}
	}
	if e.bits != nil {
		orInto(dst, e.bits)
	}
	for _, id := range e.tokens {
		set(dst, id)
	}
}

func orInto(dst, src []uint64) {
	dst = dst[:len(src)]
	for i, w := range src {
		dst[i] |= w
	}
}

// walker walks the trie for an entry.
type walker struct {
	t    *trie
	m    *machine
	e    *entry
	path [maxPiece + 1]int32 // state at each depth
}

// begin makes the entry of some nodes at the beginning of a token.
func (w *walker) begin(v *Vocab, nodes []rtn.Node) *entry {
	w.e = &entry{}
	start := w.m.at(nodes)
	safe := w.m.safe(start, maxPiece)
	for i, part := range v.parts {
		if part.runes > 0 && part.runes <= safe {
			w.e.whole |= 1 << i
			continue
		}
		w.path[0] = start
		w.walk(part.lo, part.hi)
		start = w.path[0] // its number can have changed
	}
	return w.pack(v)
}

// follow makes the entry of some nodes behind the escapes of another. Where the rule of
// these nodes can end at once, the escapes lead on to its own callers.
func (w *walker) follow(v *Vocab, from *entry, nodes []rtn.Node) *entry {
	w.e = &entry{}
	if slices.ContainsFunc(nodes, func(n rtn.Node) bool { return w.m.p.Accept[n] }) {
		w.e.escapes = slices.Clone(from.escapes)
	}
	start := w.m.at(nodes)
	for _, at := range from.escapes {
		d := w.t.depth[at]
		for i := range d {
			w.path[i] = dead // not on this path
		}
		w.path[d] = start
		w.walk(at+1, w.t.skip[at])
		start = w.path[d]
	}
	return w.pack(v)
}

// walk visits the nodes from lo to hi whose states are not dead.
func (w *walker) walk(lo, hi int32) {
	t, m := w.t, w.m
	classes := m.p.Classes
	for i := lo; i < hi; {
		d, b := t.depth[i], t.sym[i]
		s := m.next[int(w.path[d-1])*classes+int(m.p.Class[b])]
		if s == unknown {
			if m.crowded() {
				m.rebase(w.path[:d])
			}
			s = m.after(w.path[d-1], b)
		}
		if s == dead {
			i = t.skip[i]
			continue
		}
		w.path[d] = s
		if id := t.token[i]; id >= 0 {
			w.e.tokens = append(w.e.tokens, id)
			if t.more != nil {
				w.e.tokens = append(w.e.tokens, t.more[i]...)
			}
		}
		if m.states[s].escape && t.skip[i] > i+1 {
			w.e.escapes = append(w.e.escapes, i)
		}
		i++
	}
}

// pack keeps many tokens as bits.
func (w *walker) pack(v *Vocab) *entry {
	e := w.e
	slices.Sort(e.escapes)
	e.escapes = slices.Compact(e.escapes)
	if len(e.tokens) > 2*v.Words() {
		e.bits = make([]uint64, v.Words())
		for _, id := range e.tokens {
			set(e.bits, id)
		}
		e.tokens = nil
	}
	return e
}
