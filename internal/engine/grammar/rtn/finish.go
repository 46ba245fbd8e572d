package rtn

import (
	"slices"

	"macaron/internal/errs"
)

// Finish compiles the language of a rule. An empty language is InvalidRequest, a
// grammar beyond the bounds TooLarge.
func (b *Builder) Finish(start Rule) (*Program, error) {
	if err := b.Err(); err != nil {
		return nil, err
	}
	if b.prune(start); len(b.rules) == 0 {
		return nil, errs.New(errs.InvalidRequest, "no text satisfies the constraint", "look for parts of it that contradict each other")
	}
	b.skipNullable()
	if err := b.unwindLeft(); err != nil {
		return nil, err
	}
	return b.compile(start)
}

// Empty finds the first of some rules that takes no text at all, -1 if there is none.
func (b *Builder) Empty(rules []Rule) int {
	ok := b.reaching(func(c callEdge, ok []bool) bool { return ok[b.rules[c.rule].start] }, true)
	return slices.IndexFunc(rules, func(r Rule) bool { return !ok[b.rules[r].start] })
}

// prune drops every edge that leads nowhere: afterwards each node that is reached can
// reach the end of its rule. It empties the builder when start has no end.
func (b *Builder) prune(start Rule) {
	ok := b.reaching(func(c callEdge, ok []bool) bool { return ok[b.rules[c.rule].start] }, true)
	if !ok[b.rules[start].start] {
		b.rules = nil
		return
	}
	b.bytes = keep(b.bytes, func(e byteEdge) bool { return ok[e.to] })
	b.eps = keep(b.eps, func(e epsEdge) bool { return ok[e.to] })
	b.calls = keep(b.calls, func(e callEdge) bool { return ok[e.to] && ok[b.rules[e.rule].start] })
}

func keep[E any](edges []E, good func(E) bool) []E {
	out := edges[:0]
	for _, e := range edges {
		if good(e) {
			out = append(out, e)
		}
	}
	return out
}

// skipNullable puts an empty step beside every call of a rule that can take nothing.
// From then on a call always takes at least one byte.
func (b *Builder) skipNullable() {
	null := b.reaching(func(c callEdge, ok []bool) bool { return ok[b.rules[c.rule].start] }, false)
	for _, c := range b.calls {
		if null[b.rules[c.rule].start] {
			b.Eps(c.from, c.to)
		}
	}
}

// reaching marks the nodes from which the end of their rule is reached, over bytes or
// without them. A call counts once its rule is passable and its target is marked.
func (b *Builder) reaching(passable func(callEdge, []bool) bool, overBytes bool) []bool {
	ok := make([]bool, b.nodes)
	into := b.backward(overBytes)
	callers := b.callersByStart()
	var work []Node
	mark := func(n Node) {
		if !ok[n] {
			ok[n] = true
			work = append(work, n)
		}
	}
	for _, r := range b.rules {
		mark(r.end)
	}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, from := range into.of(n) {
			if from >= 0 {
				mark(from)
			} else if c := b.calls[-from-1]; passable(c, ok) {
				mark(c.from)
			}
		}
		for _, i := range callers.of(n) {
			if c := b.calls[i]; ok[c.to] {
				mark(c.from)
			}
		}
	}
	return ok
}

// backward lists for each node whence it is reached; calls appear as -index-1.
func (b *Builder) backward(overBytes bool) *table {
	t := newTable(int(b.nodes))
	each := func(add func(at Node, v int32)) {
		if overBytes {
			for _, e := range b.bytes {
				add(e.to, e.from)
			}
		}
		for _, e := range b.eps {
			add(e.to, e.from)
		}
		for i, e := range b.calls {
			add(e.to, int32(-i-1))
		}
	}
	t.fill(each)
	return t
}

// callersByStart lists the calls of the rule that starts at a node.
func (b *Builder) callersByStart() *table {
	t := newTable(int(b.nodes))
	t.fill(func(add func(at Node, v int32)) {
		for i, c := range b.calls {
			add(b.rules[c.rule].start, int32(i))
		}
	})
	return t
}

// table holds a list of numbers for each node, in one block.
type table struct{ at, vals []int32 }

func newTable(n int) *table { return &table{at: make([]int32, n+1)} }

func (t *table) of(n Node) []int32 { return t.vals[t.at[n]:t.at[n+1]] }

// fill takes every pair twice, to count and to place.
func (t *table) fill(each func(add func(at Node, v int32))) {
	total := int32(0)
	each(func(at Node, _ int32) { t.at[at+1]++; total++ })
	for i := 1; i < len(t.at); i++ {
		t.at[i] += t.at[i-1]
	}
	t.vals = make([]int32, total)
	next := append([]int32(nil), t.at...)
	each(func(at Node, v int32) { t.vals[next[at]] = v; next[at]++ })
}
