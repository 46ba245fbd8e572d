package rtn

import "math"

// Endless is the distance of a node from which no rule ends; a compiled network has none.
const Endless = math.MaxInt32

// Least gives for each node the fewest bytes from it to the end of its rule, and none for
// a node at which the rule can end. The equations are solved from above until nothing
// gets less; nodes are numbered roughly from the front of texts to their end, so that a
// few passes from the last node to the first are enough.
func (p *Program) Least() []int32 {
	least := make([]int32, p.Nodes())
	for n := range least {
		if !p.Accept[n] {
			least[n] = Endless
		}
	}
	for changed := true; changed; {
		changed = false
		for n := Node(len(least)) - 1; n >= 0; n-- {
			if d := p.through(least, n); d < least[n] {
				least[n], changed = d, true
			}
		}
	}
	return least
}

// through is the least of a node by what is known of those behind it.
func (p *Program) through(least []int32, n Node) int32 {
	best := least[n]
	for _, s := range p.Steps(n) {
		best = min(best, sum(1, least[s.To]))
	}
	for _, c := range p.Calls(n) {
		best = min(best, sum(least[p.Entry[c.Rule]], least[c.To]))
	}
	return best
}

func sum(a, b int32) int32 { return int32(min(int64(a)+int64(b), Endless)) }
