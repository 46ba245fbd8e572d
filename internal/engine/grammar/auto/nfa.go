package auto

import "slices"

// nfa is an automaton with empty steps, from node 0 to node 1.
type nfa struct {
	nodes []nfaNode
	limit int
	size  int
}

type nfaNode struct {
	edges      []nfaEdge
	empty      []int32
	begin, end []int32 // steps that are open at the beginning or the end only
}

type nfaEdge struct {
	set Set
	to  int32
}

// thompson makes the automaton of an expression.
func thompson(e Expr, b *Budget) (*nfa, error) {
	n := &nfa{nodes: make([]nfaNode, 2), limit: b.left}
	e.Walk(n, 0, 1)
	return n, b.Spend(n.size)
}

// Full reports that the automaton is larger than its budget.
func (n *nfa) Full() bool { return n.size > n.limit }

// Node adds a node without steps.
func (n *nfa) Node() int32 {
	n.size++
	n.nodes = append(n.nodes, nfaNode{})
	return int32(len(n.nodes) - 1)
}

// Edge adds a step that reads one value of s.
func (n *nfa) Edge(from int32, s Set, to int32) {
	n.size += len(s)
	n.nodes[from].edges = append(n.nodes[from].edges, nfaEdge{s, to})
}

// Empty adds a step that reads nothing.
func (n *nfa) Empty(from, to int32) {
	n.size++
	n.nodes[from].empty = append(n.nodes[from].empty, to)
}

// Assert adds a step that reads nothing and is open at the beginning of the text only, or
// at its end only.
func (n *nfa) Assert(from int32, begin bool, to int32) {
	n.size++
	if at := &n.nodes[from]; begin {
		at.begin = append(at.begin, to)
	} else {
		at.end = append(at.end, to)
	}
}

// close adds to a set of nodes what empty steps reach, and sorts it. At the beginning or
// the end, the steps that hold there are open.
func (n *nfa) close(set []int32, atBegin, atEnd bool) []int32 {
	seen := make(map[int32]bool, len(set))
	var out []int32
	add := func(to []int32) {
		for _, t := range to {
			if !seen[t] {
				seen[t] = true
				out = append(out, t)
			}
		}
	}
	add(set)
	for i := 0; i < len(out); i++ {
		at := n.nodes[out[i]]
		add(at.empty)
		if atBegin {
			add(at.begin)
		}
		if atEnd {
			add(at.end)
		}
	}
	slices.Sort(out)
	return out
}
