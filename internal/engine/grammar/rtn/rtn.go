// Package rtn holds grammars as recursive transition networks over bytes (Woods 1970):
// every rule is a nondeterministic automaton whose edges take a byte or call a rule.
// A Builder collects them, Finish checks, removes left recursion and compiles.
package rtn

import (
	"fmt"

	"macaron/internal/errs"
)

// Node and Rule number the parts of one Builder.
type (
	Node = int32
	Rule = int32
)

// The bounds of one grammar. They hold compilation below a few tens of milliseconds
// and the tables below some tens of megabytes.
const (
	MaxNodes   = 1 << 18
	MaxEdges   = 1 << 19
	MaxClosure = 1 << 19 // edges seen from all nodes through empty steps
)

// Builder collects rules. Its methods never fail; Finish reports what went wrong.
type Builder struct {
	nodes int32
	bytes []byteEdge
	eps   []epsEdge
	calls []callEdge
	rules []rule
}

type (
	byteEdge struct {
		from, to Node
		lo, hi   byte
	}
	epsEdge  struct{ from, to Node }
	callEdge struct {
		from, to Node
		rule     Rule
	}
	rule struct{ start, end Node }
)

// Node adds a node.
func (b *Builder) Node() Node {
	b.nodes++
	return b.nodes - 1
}

// Rule adds a rule with a start and an end.
func (b *Builder) Rule() Rule {
	b.rules = append(b.rules, rule{b.Node(), b.Node()})
	return Rule(len(b.rules) - 1)
}

// Start and End are the ends of a rule.
func (b *Builder) Start(r Rule) Node { return b.rules[r].start }

// End is the node at which a rule returns; it must have no edges.
func (b *Builder) End(r Rule) Node { return b.rules[r].end }

// Bytes adds an edge that takes one byte from lo to hi.
func (b *Builder) Bytes(from Node, lo, hi byte, to Node) {
	b.bytes = append(b.bytes, byteEdge{from, to, lo, hi})
}

// Eps adds an edge that takes nothing.
func (b *Builder) Eps(from, to Node) { b.eps = append(b.eps, epsEdge{from, to}) }

// Call adds an edge that takes what a rule takes.
func (b *Builder) Call(from Node, r Rule, to Node) {
	b.calls = append(b.calls, callEdge{from, to, r})
}

// Text adds a path that takes exactly s.
func (b *Builder) Text(from Node, s string, to Node) {
	for i := range len(s) {
		next := to
		if i < len(s)-1 {
			next = b.Node()
		}
		b.Bytes(from, s[i], s[i], next)
		from = next
	}
	if s == "" {
		b.Eps(from, to)
	}
}

// Full tells whether a bound is passed already, so that compilers can stop early.
func (b *Builder) Full() bool {
	return b.nodes > MaxNodes || len(b.bytes)+len(b.eps)+len(b.calls) > MaxEdges
}

// Err is the error of a builder that is Full, else nil.
func (b *Builder) Err() error {
	if !b.Full() {
		return nil
	}
	return tooLarge(fmt.Sprintf("it has more than %d states or %d transitions", MaxNodes, MaxEdges))
}

func tooLarge(what string) error {
	return errs.New(errs.TooLarge, "the constraint is too large: "+what, "use smaller bounds on lengths and counts, or fewer alternatives")
}
