package grammar

import (
	"encoding/binary"
	"slices"
	"sync"

	"macaron/internal/engine/grammar/rtn"
)

// Grammar is a compiled constraint for one vocabulary. It is safe for concurrent use;
// what it learns in one answer helps the others, within bounds.
type Grammar struct {
	v *Vocab
	p *rtn.Program

	mu      sync.Mutex
	real    *stepper // over the frames of matchers
	walk    walker
	entries map[string]*entry
	bytes   int // of entries, about

	leastOnce sync.Once
	least     []int32 // of p, once it is asked for
}

// maxEntryBytes bounds the memory of a grammar's entries.
const maxEntryBytes = 24 << 20

// compile finishes a network and binds it to the vocabulary.
func (v *Vocab) compile(b *rtn.Builder, start rtn.Rule) (*Grammar, error) {
	p, err := b.Finish(start)
	if err != nil {
		return nil, err
	}
	g := &Grammar{v: v, p: p, real: newStepper(p, newFrame), entries: map[string]*entry{}}
	g.walk.t, g.walk.m = &v.trie, newMachine(p)
	return g, nil
}

// Vocab is the vocabulary that the grammar was made for.
func (g *Grammar) Vocab() *Vocab { return g.v }

// mask adds what items allow to a mask.
func (g *Grammar) mask(dst []uint64, items []item) error {
	if g.bytes > maxEntryBytes {
		g.entries, g.bytes = map[string]*entry{}, 0
	}
	g.walk.m.work = 0
	done := map[visited]bool{}
	for len(items) > 0 {
		f := items[0].f
		var nodes []rtn.Node
		items = slices.DeleteFunc(items, func(it item) bool {
			if it.f == f {
				nodes = append(nodes, it.node)
			}
			return it.f == f
		})
		g.descend(dst, g.entry(nodes), f, done)
	}
	if g.walk.m.step.full {
		return tooAmbiguous()
	}
	return nil
}

// visited is an entry in a frame that a mask has been through.
type visited struct {
	e *entry
	f *frame
}

// descend adds the tokens of an entry, and of those that leave its frame.
func (g *Grammar) descend(dst []uint64, e *entry, f *frame, done map[visited]bool) {
	if done[visited{e, f}] {
		return
	}
	done[visited{e, f}] = true
	e.or(dst, g.v.parts)
	if len(e.escapes) == 0 {
		return
	}
	callers := slices.Clone(f.callers)
	for len(callers) > 0 {
		parent := callers[0].parent
		var nodes []rtn.Node
		callers = slices.DeleteFunc(callers, func(c caller) bool {
			if c.parent == parent {
				nodes = append(nodes, c.to)
			}
			return c.parent == parent
		})
		g.descend(dst, g.then(e, nodes), parent, done)
	}
}

// entry finds or makes the entry of some nodes.
func (g *Grammar) entry(nodes []rtn.Node) *entry {
	key := nodesKey(nodes)
	e, ok := g.entries[key]
	if !ok {
		e = g.walk.begin(g.v, nodes)
		g.keep(g.entries, key, e)
	}
	return e
}

// then finds or makes the entry of some nodes behind another's escapes.
func (g *Grammar) then(e *entry, nodes []rtn.Node) *entry {
	key := nodesKey(nodes)
	next, ok := e.next[key]
	if !ok {
		next = g.walk.follow(g.v, e, nodes)
		if e.next == nil {
			e.next = map[string]*entry{}
		}
		g.keep(e.next, key, next)
	}
	return next
}

func (g *Grammar) keep(in map[string]*entry, key string, e *entry) {
	in[key] = e
	g.bytes += e.bytes()
}

// nodesKey names a set of nodes.
func nodesKey(nodes []rtn.Node) string {
	slices.Sort(nodes)
	key := make([]byte, 0, 4*len(nodes))
	for _, n := range slices.Compact(nodes) {
		key = binary.LittleEndian.AppendUint32(key, uint32(n))
	}
	return string(key)
}
