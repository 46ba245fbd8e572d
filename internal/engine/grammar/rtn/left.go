package rtn

import "slices"

// forward lists the edges that leave each node, as indices.
type forward struct{ bytes, eps, calls *table }

func (b *Builder) forward() forward {
	f := forward{newTable(int(b.nodes)), newTable(int(b.nodes)), newTable(int(b.nodes))}
	f.bytes.fill(func(add func(Node, int32)) {
		for i, e := range b.bytes {
			add(e.from, int32(i))
		}
	})
	f.eps.fill(func(add func(Node, int32)) {
		for i, e := range b.eps {
			add(e.from, int32(i))
		}
	})
	f.calls.fill(func(add func(Node, int32)) {
		for i, e := range b.calls {
			add(e.from, int32(i))
		}
	})
	return f
}

// closer finds what empty steps reach; it is reused between nodes.
type closer struct {
	b    *Builder
	f    forward
	seen []int32 // round in which a node was seen
	now  int32
	out  []Node
}

func (b *Builder) closer() *closer {
	return &closer{b: b, f: b.forward(), seen: make([]int32, b.nodes)}
}

// close lists the nodes that empty steps reach from n, n included. The list is valid
// until the next call.
func (c *closer) close(n Node) []Node {
	c.now++
	c.out = append(c.out[:0], n)
	c.seen[n] = c.now
	for i := 0; i < len(c.out); i++ {
		for _, e := range c.f.eps.of(c.out[i]) {
			if to := c.b.eps[e].to; c.seen[to] != c.now {
				c.seen[to] = c.now
				c.out = append(c.out, to)
			}
		}
	}
	return c.out
}

// leftCalls lists the calls that a rule can begin with, as indices.
func (c *closer) leftCalls(r Rule) (calls []int32) {
	for _, n := range c.close(c.b.rules[r].start) {
		calls = append(calls, c.f.calls.of(n)...)
	}
	return calls
}

// unwindLeft rewrites each group of rules that begin with one another, by the
// left-corner transform (Rosenkrantz and Lewis 1970): a rule A of the group begins with
// the seeds of any rule B of it, and where B ends, goes on behind any call of B at the
// beginning of a rule of the group, until A ends.
func (b *Builder) unwindLeft() error {
	c := b.closer()
	left := make([][]int32, len(b.rules))
	next := make([][]Rule, len(b.rules))
	for r := range b.rules {
		left[r] = c.leftCalls(Rule(r))
		for _, i := range left[r] {
			next[r] = append(next[r], b.calls[i].rule)
		}
	}
	for _, group := range components(next) {
		if len(group) == 1 && !slices.Contains(next[group[0]], group[0]) {
			continue
		}
		if err := b.unwindGroup(c, group, left); err != nil {
			return err
		}
	}
	return nil
}

// unwindGroup gives every rule of a group a new body. The old bodies stay behind,
// unreachable.
func (b *Builder) unwindGroup(c *closer, group []Rule, left [][]int32) error {
	in := map[Rule]bool{}
	for _, r := range group {
		in[r] = true
	}
	fresh := make([]rule, len(group))
	for i, a := range group {
		fresh[i] = b.unwound(c, a, group, in, left)
		if err := b.Err(); err != nil {
			return err
		}
	}
	for i, a := range group {
		b.rules[a] = fresh[i]
	}
	return nil
}

// unwound builds the new body of a rule out of copies of the group's bodies. Nodes and
// edges that it adds are unknown to c, which keeps to the old bodies.
func (b *Builder) unwound(c *closer, a Rule, group []Rule, in map[Rule]bool, left [][]int32) rule {
	out := rule{b.Node(), b.Node()}
	copies := &bodies{b: b, f: c.f, old: c.b.nodesBefore(c), twin: map[Node]Node{}}
	for _, r := range group {
		for _, n := range slices.Clone(c.close(b.rules[r].start)) {
			if n == b.rules[r].end && r == a {
				b.Eps(out.start, out.end)
			}
			copies.leave(n, out.start, func(call callEdge) bool { return !in[call.rule] })
		}
		end := copies.of(b.rules[r].end)
		if r == a {
			b.Eps(end, out.end)
		}
		for _, owner := range group {
			for _, i := range left[owner] {
				if b.calls[i].rule == r {
					b.Eps(end, copies.of(b.calls[i].to))
				}
			}
		}
	}
	copies.drain()
	return out
}

func (b *Builder) nodesBefore(c *closer) int { return len(c.seen) }

// bodies copies the part of the network behind the nodes that are asked for.
type bodies struct {
	b    *Builder
	f    forward
	old  int
	twin map[Node]Node
	todo []Node
}

// of is the copy of a node; what lies behind it is copied by drain.
func (c *bodies) of(n Node) Node {
	t, ok := c.twin[n]
	if !ok {
		t = c.b.Node()
		c.twin[n] = t
		c.todo = append(c.todo, n)
	}
	return t
}

// leave copies the edges of a node that take something, so that they leave from.
func (c *bodies) leave(n, from Node, good func(callEdge) bool) {
	for _, i := range c.f.bytes.of(n) {
		e := c.b.bytes[i]
		c.b.Bytes(from, e.lo, e.hi, c.of(e.to))
	}
	for _, i := range c.f.calls.of(n) {
		if e := c.b.calls[i]; good(e) {
			c.b.Call(from, e.rule, c.of(e.to))
		}
	}
}

func (c *bodies) drain() {
	for len(c.todo) > 0 && !c.b.Full() {
		n := c.todo[len(c.todo)-1]
		c.todo = c.todo[:len(c.todo)-1]
		from := c.twin[n]
		c.leave(n, from, func(callEdge) bool { return true })
		for _, i := range c.f.eps.of(n) {
			c.b.Eps(from, c.of(c.b.eps[i].to))
		}
	}
}
