package rtn

import "fmt"

// Program is a compiled network. Of a node it keeps what lies behind its empty steps.
// It is immutable.
type Program struct {
	Start   Node        // of the start rule
	Accept  []bool      // [node]: the rule can end here
	Tail    []bool      // [node]: and nothing else can happen
	First   [][4]uint64 // [rule]: bytes that it can begin with
	Entry   []Node      // [rule]: its start
	Rank    []int32     // [rule]: a rule begins with calls of rules of higher rank only
	Class   [256]uint8
	Classes int // bytes of one class are alike everywhere

	steps table32[Step]
	calls table32[Call]
}

// Step is an edge over a byte.
type Step struct {
	To     Node
	Lo, Hi byte
}

// Call is an edge over a rule, which takes at least one byte.
type Call struct {
	Rule Rule
	To   Node
}

// Steps and Calls are the edges that can be taken at a node.
func (p *Program) Steps(n Node) []Step { return p.steps.of(n) }

// Calls are the rules that can be called at a node.
func (p *Program) Calls(n Node) []Call { return p.calls.of(n) }

// Nodes is the number of nodes.
func (p *Program) Nodes() int { return len(p.Accept) }

type table32[E any] struct {
	at   []int32
	vals []E
}

func (t *table32[E]) of(n Node) []E { return t.vals[t.at[n]:t.at[n+1]] }

// compile closes every node over its empty steps and numbers what is left.
func (b *Builder) compile(start Rule) (*Program, error) {
	c := b.closer()
	p := &Program{}
	number := map[Node]Node{}
	var order []Node
	reach := func(n Node) Node {
		id, ok := number[n]
		if !ok {
			id = Node(len(order))
			number[n] = id
			order = append(order, n)
		}
		return id
	}
	rules := map[Rule]Rule{}
	var ruleOrder []Rule
	enter := func(r Rule) Rule {
		id, ok := rules[r]
		if !ok {
			id = Rule(len(ruleOrder))
			rules[r] = id
			ruleOrder = append(ruleOrder, r)
			p.Entry = append(p.Entry, reach(b.rules[r].start))
		}
		return id
	}
	ends := make([]bool, b.nodes)
	for _, r := range b.rules {
		ends[r.end] = true
	}
	enter(start)
	for i := 0; i < len(order); i++ {
		p.steps.at, p.calls.at = append(p.steps.at, int32(len(p.steps.vals))), append(p.calls.at, int32(len(p.calls.vals)))
		accept, before := false, len(p.steps.vals)+len(p.calls.vals)
		for _, n := range c.close(order[i]) {
			accept = accept || ends[n]
			for _, e := range c.f.bytes.of(n) {
				e := b.bytes[e]
				p.steps.vals = append(p.steps.vals, Step{reach(e.to), e.lo, e.hi})
			}
			for _, e := range c.f.calls.of(n) {
				e := b.calls[e]
				p.calls.vals = append(p.calls.vals, Call{enter(e.rule), reach(e.to)})
			}
		}
		size := len(p.steps.vals) + len(p.calls.vals)
		if size > MaxClosure {
			return nil, tooLarge(fmt.Sprintf("its states have more than %d transitions together", MaxClosure))
		}
		p.Accept, p.Tail = append(p.Accept, accept), append(p.Tail, accept && size == before)
	}
	p.steps.at, p.calls.at = append(p.steps.at, int32(len(p.steps.vals))), append(p.calls.at, int32(len(p.calls.vals)))
	p.rank()
	p.classify()
	return p, nil
}

// rank orders the rules by who begins with whom and finds what each begins with.
func (p *Program) rank() {
	next := make([][]int32, len(p.Entry))
	for r, n := range p.Entry {
		for _, c := range p.Calls(n) {
			next[r] = append(next[r], c.Rule)
		}
	}
	p.Rank, p.First = make([]int32, len(next)), make([][4]uint64, len(next))
	for i, group := range components(next) {
		r := group[0] // alone: nothing is left-recursive any more
		p.Rank[r] = int32(len(next) - i)
		for _, s := range p.Steps(p.Entry[r]) {
			for b := int(s.Lo); b <= int(s.Hi); b++ {
				p.First[r][b/64] |= 1 << (b % 64)
			}
		}
		for _, other := range next[r] {
			for w := range p.First[r] {
				p.First[r][w] |= p.First[other][w]
			}
		}
	}
}

// classify groups the bytes that every edge treats alike.
func (p *Program) classify() {
	var border [257]bool
	for _, s := range p.steps.vals {
		border[s.Lo], border[int(s.Hi)+1] = true, true
	}
	class := 0
	for b := range 256 {
		if b > 0 && border[b] {
			class++
		}
		p.Class[b] = uint8(class)
	}
	p.Classes = class + 1
}
