package grammar

import (
	"slices"

	"macaron/internal/engine/grammar/rtn"
	"macaron/internal/errs"
)

// frame is whom a rule returns to: at a node of the caller, in the caller's own frame.
// Frames are immutable and never form a ring.
type frame struct {
	callers []caller
	hash    uint64
	id      int32 // in a machine's table
}

type caller struct {
	to     rtn.Node
	parent *frame
}

// bottom is the frame of the outermost rule: returning from it leaves the language, or
// in a machine, what the machine can see.
var bottom = &frame{hash: 0x9E3779B97F4A7C15}

// item is one thing that a text can be so far.
type item struct {
	node rtn.Node
	f    *frame
}

// maxItems bounds what a text can be at once. Only grammars that read one text in
// very many ways come near.
const maxItems = 4096

func newFrame(callers []caller) *frame {
	f := &frame{callers: slices.Clone(callers), hash: uint64(len(callers))}
	for _, c := range callers {
		f.hash += mix(uint64(c.to)*0x9E3779B97F4A7C15 ^ c.parent.hash) // order does not matter
	}
	return f
}

func mix(x uint64) uint64 {
	x = (x ^ x>>31) * 0xD6E8FEB86659FD93
	return x ^ x>>32
}

// same tells whether two frames hold the same callers. Deeper frames are compared by
// their 64-bit hashes.
func (f *frame) same(g *frame) bool {
	if f == g {
		return true
	}
	if f.hash != g.hash || len(f.callers) != len(g.callers) || f == bottom || g == bottom {
		return false
	}
	for _, c := range f.callers {
		if !slices.ContainsFunc(g.callers, func(d caller) bool { return c.to == d.to && c.parent.hash == d.parent.hash }) {
			return false
		}
	}
	return true
}

// stepper takes items over a byte. It holds scratch memory for one goroutine.
type stepper struct {
	p       *rtn.Program
	intern  func(callers []caller) *frame
	b       byte
	out     []item
	escaped bool          // a rule in the bottom frame ended behind the byte
	calls   [][]caller    // by rule, of the rules in pending
	pending []rtn.Rule    // called rules, by descending rank
	index   map[item]bool // of out, once it is long
	full    bool
}

func newStepper(p *rtn.Program, intern func([]caller) *frame) *stepper {
	return &stepper{p: p, intern: intern, calls: make([][]caller, len(p.Entry))}
}

// step gives the items behind a byte, in scratch memory, and whether the outermost rule
// can end there.
func (s *stepper) step(items []item, b byte) ([]item, bool) {
	s.b, s.out, s.escaped = b, s.out[:0], false
	if s.index != nil {
		s.index = nil
	}
	for _, it := range items {
		s.visit(it.node, it.f)
	}
	for len(s.pending) > 0 {
		r := s.pending[len(s.pending)-1]
		s.pending = s.pending[:len(s.pending)-1]
		f := s.intern(s.calls[r])
		s.calls[r] = s.calls[r][:0]
		s.visit(s.p.Entry[r], f)
	}
	return s.out, s.escaped
}

// visit takes the byte at a node and notes the calls that can take it.
func (s *stepper) visit(n rtn.Node, f *frame) {
	for _, e := range s.p.Steps(n) {
		if e.Lo <= s.b && s.b <= e.Hi {
			s.arrive(e.To, f)
		}
	}
	for _, c := range s.p.Calls(n) {
		if s.p.First[c.Rule][s.b>>6]>>(s.b&63)&1 != 0 {
			s.call(c.Rule, c.To, f)
		}
	}
}

// call notes a caller of a rule. A call at the end of its own rule returns to that
// rule's callers at once, so that right recursion does not pile up frames.
func (s *stepper) call(r rtn.Rule, to rtn.Node, f *frame) {
	if len(s.calls[r]) == 0 {
		at, _ := slices.BinarySearchFunc(s.pending, s.p.Rank[r], func(q rtn.Rule, rank int32) int { return int(rank - s.p.Rank[q]) })
		s.pending = slices.Insert(s.pending, at, r)
	}
	if s.p.Tail[to] && f != bottom {
		for _, c := range f.callers {
			s.addCaller(r, c)
		}
		return
	}
	s.addCaller(r, caller{to, f})
}

func (s *stepper) addCaller(r rtn.Rule, c caller) {
	for _, d := range s.calls[r] {
		if c.to == d.to && c.parent.same(d.parent) {
			return
		}
	}
	if len(s.calls[r]) >= maxItems {
		s.full = true
		return
	}
	s.calls[r] = append(s.calls[r], c)
}

// arrive adds an item, and where its rule can end, those it returns to.
func (s *stepper) arrive(n rtn.Node, f *frame) {
	if s.p.Accept[n] && f == bottom {
		s.escaped = true
	}
	if s.p.Tail[n] && f == bottom || s.has(n, f) {
		return
	}
	if len(s.out) >= maxItems {
		s.full = true
		return
	}
	s.out = append(s.out, item{n, f})
	if s.index != nil {
		s.index[item{n, f}] = true
	}
	if s.p.Accept[n] {
		for _, c := range f.callers {
			s.arrive(c.to, c.parent)
		}
	}
}

// has tells whether an item is there already. Beyond a few items frames are compared
// by identity, which at worst keeps an item twice.
func (s *stepper) has(n rtn.Node, f *frame) bool {
	if s.index != nil {
		return s.index[item{n, f}]
	}
	for _, it := range s.out {
		if it.node == n && it.f.same(f) {
			return true
		}
	}
	if len(s.out) == 32 {
		s.index = make(map[item]bool, 64)
		for _, it := range s.out {
			s.index[it] = true
		}
	}
	return false
}

// settle drops the items at which nothing can be taken any more.
func (s *stepper) settle(items []item) []item {
	return slices.DeleteFunc(items, func(it item) bool { return s.p.Tail[it.node] })
}

func tooAmbiguous() error {
	return errs.New(errs.TooLarge, "the grammar can read the text in too many ways", "make it less ambiguous")
}
