package auto

import (
	"encoding/binary"
	"slices"
)

// DFA is a deterministic automaton that starts in state 0. It need not be complete:
// a rune without an edge leads nowhere.
type DFA struct{ States []State }

// State is a state of a DFA: its edges ascend and do not overlap.
type State struct {
	Edges  []Edge
	Accept bool
}

// Edge leads to a state over the runes from Lo to Hi.
type Edge struct {
	Lo, Hi rune
	To     int32
}

// Compile makes the automaton of an expression. ^ and $ hold at the ends of the text.
func Compile(e Expr, b *Budget) (*DFA, error) {
	n, err := thompson(e, b)
	if err != nil {
		return nil, err
	}
	d := &determiner{n: n, b: b, ids: map[string]int32{}}
	return d.run()
}

// determiner is the subset construction (Rabin and Scott 1959).
type determiner struct {
	n    *nfa
	b    *Budget
	ids  map[string]int32
	sets [][]int32
	out  DFA
}

func (d *determiner) run() (*DFA, error) {
	d.state(d.n.close([]int32{0}, true, false))
	d.out.States[0].Accept = slices.Contains(d.n.close([]int32{0}, true, true), 1)
	for i := 0; i < len(d.sets); i++ {
		edges := d.edges(d.sets[i])
		if err := d.b.Spend(1 + len(edges) + len(d.sets[i])); err != nil {
			return nil, err
		}
		d.out.States[i].Edges = edges
	}
	return d.out.minimal(), nil
}

// state finds or adds the state of a closed set. The first state is never found again:
// only there the beginning is open.
func (d *determiner) state(set []int32) int32 {
	var key []byte
	for _, n := range set {
		key = binary.LittleEndian.AppendUint32(key, uint32(n))
	}
	if id, ok := d.ids[string(key)]; ok {
		return id
	}
	id := int32(len(d.sets))
	if id > 0 {
		d.ids[string(key)] = id
	}
	d.sets = append(d.sets, set)
	d.out.States = append(d.out.States, State{Accept: slices.Contains(d.n.close(set, false, true), 1)})
	return id
}

// edges splits the runes where any edge of a set begins or ends.
func (d *determiner) edges(set []int32) []Edge {
	type border struct {
		at rune
		in bool
		to int32
	}
	var borders []border
	for _, n := range set {
		for _, e := range d.n.nodes[n].edges {
			for _, r := range e.set {
				borders = append(borders, border{r.Lo, true, e.to}, border{r.Hi + 1, false, e.to})
			}
		}
	}
	slices.SortFunc(borders, func(a, b border) int { return int(a.at - b.at) })
	open := map[int32]int{}
	var out []Edge
	for i := 0; i < len(borders); {
		at := borders[i].at
		for ; i < len(borders) && borders[i].at == at; i++ {
			if b := borders[i]; b.in {
				open[b.to]++
			} else if open[b.to]--; open[b.to] == 0 {
				delete(open, b.to)
			}
		}
		if len(open) > 0 && i < len(borders) {
			var to []int32
			for t := range open {
				to = append(to, t)
			}
			out = join(out, Edge{at, borders[i].at - 1, d.state(d.n.close(to, false, false))})
		}
	}
	return out
}

// join appends an edge, to the last one if they touch and agree.
func join(edges []Edge, e Edge) []Edge {
	if n := len(edges); n > 0 && edges[n-1].Hi+1 == e.Lo && edges[n-1].To == e.To {
		edges[n-1].Hi = e.Hi
		return edges
	}
	return append(edges, e)
}

// Accepts tells whether a text is in the language.
func (d *DFA) Accepts(s string) bool {
	at := int32(0)
	for _, r := range s {
		to, ok := d.States[at].step(r)
		if !ok {
			return false
		}
		at = to
	}
	return d.States[at].Accept
}

func (s *State) step(r rune) (int32, bool) {
	i, ok := slices.BinarySearchFunc(s.Edges, r, func(e Edge, r rune) int {
		switch {
		case e.Hi < r:
			return -1
		case e.Lo > r:
			return 1
		}
		return 0
	})
	if !ok {
		return 0, false
	}
	return s.Edges[i].To, true
}
