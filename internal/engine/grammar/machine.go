package grammar

import (
	"cmp"
	"encoding/binary"
	"slices"

	"macaron/internal/engine/grammar/rtn"
)

// machine is the automaton of what the innermost rules take, made as it is needed. Its
// states are sets of items over the bottom frame, which stands for any frame.
type machine struct {
	p      *rtn.Program
	step   *stepper
	states []state
	next   []int32 // [state, class]: the state behind a byte, -1 not known yet
	ids    map[string]int32
	frames map[uint64][]*frame
	count  int32 // frames
	key    []byte
	limit  int // entries of next beyond which the tables are emptied
	work   int // items taken over a byte for the present mask
}

// state is what a text can be; dead if it has neither items nor an escape.
type state struct {
	items  []item
	escape bool // the bottom frame is returned from here
}

const (
	dead       = 0
	unknown    = -1
	maxNext    = 2 << 20 // entries of a machine's table, 4 bytes each
	maxPending = 1 << 17 // frames of a machine

	maxMaskWork = 3_000_000 // items that one mask may take over a byte
	maxSafeWork = 30_000    // items that safe takes over a byte
)

func newMachine(p *rtn.Program) *machine {
	m := &machine{p: p, limit: maxNext}
	m.step = newStepper(p, m.frame)
	m.reset()
	return m
}

func (m *machine) reset() {
	m.states, m.next = m.states[:0], m.next[:0]
	m.ids, m.frames, m.count = map[string]int32{}, map[uint64][]*frame{}, 0
	m.state(nil, false)
}

// crowded tells whether the tables should be emptied before they grow further.
func (m *machine) crowded() bool { return len(m.next) > m.limit || int(m.count) > maxPending }

// rebase empties the tables but for some states, whose new numbers it writes in place.
func (m *machine) rebase(keep []int32) {
	old := make([]state, len(keep))
	for i, id := range keep {
		old[i] = m.states[id]
	}
	m.reset()
	for i, s := range old {
		for j, it := range s.items {
			s.items[j].f = m.adopt(it.f)
		}
		keep[i] = m.state(s.items, s.escape)
	}
}

// adopt finds or files a frame of before a reset.
func (m *machine) adopt(f *frame) *frame {
	if f == bottom {
		return f
	}
	callers := slices.Clone(f.callers)
	for i := range callers {
		callers[i].parent = m.adopt(callers[i].parent)
	}
	return m.frame(callers)
}

// frame finds or files the frame of some callers.
func (m *machine) frame(callers []caller) *frame {
	f := newFrame(callers)
	for _, g := range m.frames[f.hash] {
		if g.same(f) {
			return g
		}
	}
	m.count++
	f.id = m.count
	m.frames[f.hash] = append(m.frames[f.hash], f)
	return f
}

// state finds or files a state; it takes over the memory of items.
func (m *machine) state(items []item, escape bool) int32 {
	slices.SortFunc(items, func(a, b item) int { return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.f.id, b.f.id)) })
	m.key = m.key[:0]
	if escape {
		m.key = append(m.key, 1)
	}
	for _, it := range items {
		m.key = binary.LittleEndian.AppendUint32(m.key, uint32(it.node))
		m.key = binary.LittleEndian.AppendUint32(m.key, uint32(it.f.id))
	}
	if id, ok := m.ids[string(m.key)]; ok {
		return id
	}
	id := int32(len(m.states))
	m.ids[string(m.key)] = id
	m.states = append(m.states, state{slices.Clone(items), escape})
	for range m.p.Classes {
		m.next = append(m.next, unknown)
	}
	return id
}

// at is the state of being at some nodes in the bottom frame.
func (m *machine) at(nodes []rtn.Node) int32 {
	items := make([]item, len(nodes))
	for i, n := range nodes {
		items[i] = item{n, bottom}
	}
	return m.state(items, false)
}

// after is the state behind a byte.
func (m *machine) after(s int32, b byte) int32 {
	at := int(s)*m.p.Classes + int(m.p.Class[b])
	if t := m.next[at]; t != unknown {
		return t
	}
	if m.work += 1 + len(m.states[s].items); m.work > maxMaskWork {
		m.step.full = true // the mask is refused, now and later
		return dead
	}
	items, escape := m.step.step(m.states[s].items, b)
	t := m.state(m.step.settle(items), escape)
	m.next[at] = t
	return t
}

// safe is how many plain runes are allowed from a state whatever they are, at most most.
// It searches the product with the automaton of plain text, fewest runes first, and
// gives what it knows when that becomes long: states of many items are slow to leave.
func (m *machine) safe(start int32, most int) int {
	type pair struct {
		s int32
		t int
	}
	seen, work := map[pair]bool{}, 0
	now := []pair{{start, 0}}
	for runes := range most {
		var next []pair
		for i := 0; i < len(now); i++ {
			if work > maxSafeWork {
				return runes
			}
			for _, e := range plainText[now[i].t] {
				for b := int(e.lo); b <= int(e.hi); b = m.lastAlike(b, int(e.hi)) + 1 {
					work += 1 + len(m.states[now[i].s].items)
					to := pair{m.after(now[i].s, byte(b)), e.to}
					if to.s == dead {
						return runes
					}
					if seen[to] {
						continue
					}
					seen[to] = true
					if to.t == 0 {
						next = append(next, to)
					} else {
						now = append(now, to)
					}
				}
			}
		}
		now = next
	}
	return most
}

// lastAlike is the last of the bytes from b to hi that are of one class.
func (m *machine) lastAlike(b, hi int) int {
	for b < hi && m.p.Class[b+1] == m.p.Class[b] {
		b++
	}
	return b
}
