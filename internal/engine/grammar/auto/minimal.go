package auto

import (
	"encoding/binary"
	"slices"
)

// minimal drops the states from which nothing is accepted and joins those that accept
// the same (Moore 1956). A language without texts has one state and no edges.
func (d *DFA) minimal() *DFA {
	live := d.live()
	class := make([]int32, len(d.States))
	for i, s := range d.States {
		switch {
		case !live[i]:
			class[i] = -1
		case s.Accept:
			class[i] = 1
		}
	}
	for n, work := 0, 0; ; work += len(class) {
		if work > maxRefining {
			return d.quotient(apart(live))
		}
		next, count := d.refine(class)
		if class = next; count == n {
			return d.quotient(class)
		}
		n = count
	}
}

// maxRefining bounds the work of joining states, in states looked at. A larger
// automaton loses its dead states only.
const maxRefining = 60_000

// apart puts every live state in a class of its own.
func apart(live []bool) []int32 {
	class := make([]int32, len(live))
	for i := range class {
		if class[i] = -1; live[i] {
			class[i] = int32(i)
		}
	}
	return class
}

// live marks the states from which a text is accepted.
func (d *DFA) live() []bool {
	back := make([][]int32, len(d.States))
	live := make([]bool, len(d.States))
	var work []int32
	for i, s := range d.States {
		for _, e := range s.Edges {
			back[e.To] = append(back[e.To], int32(i))
		}
		if s.Accept {
			live[i] = true
			work = append(work, int32(i))
		}
	}
	for len(work) > 0 {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		for _, p := range back[s] {
			if !live[p] {
				live[p] = true
				work = append(work, p)
			}
		}
	}
	return live
}

// refine splits classes by where their states' edges lead. Dead states are class -1.
func (d *DFA) refine(class []int32) ([]int32, int) {
	ids := map[string]int32{}
	out := make([]int32, len(class))
	var key []byte
	for i, s := range d.States {
		if class[i] < 0 {
			out[i] = -1
			continue
		}
		key = binary.LittleEndian.AppendUint32(key[:0], uint32(class[i]))
		for _, e := range d.merged(s, class) {
			for _, v := range []int32{e.Lo, e.Hi, e.To} {
				key = binary.LittleEndian.AppendUint32(key, uint32(v))
			}
		}
		id, ok := ids[string(key)]
		if !ok {
			id = int32(len(ids))
			ids[string(key)] = id
		}
		out[i] = id
	}
	return out, len(ids)
}

// merged are the edges of a state between classes.
func (d *DFA) merged(s State, class []int32) []Edge {
	var out []Edge
	for _, e := range s.Edges {
		if class[e.To] >= 0 {
			out = join(out, Edge{e.Lo, e.Hi, class[e.To]})
		}
	}
	return out
}

func (d *DFA) quotient(class []int32) *DFA {
	if class[0] < 0 {
		return &DFA{States: make([]State, 1)}
	}
	out := &DFA{}
	number := map[int32]int32{}
	var of []int32
	add := func(c int32, member int32) int32 {
		id, ok := number[c]
		if !ok {
			id = int32(len(of))
			number[c] = id
			of = append(of, member)
		}
		return id
	}
	first := map[int32]int32{}
	for i := len(class) - 1; i >= 0; i-- {
		first[class[i]] = int32(i)
	}
	add(class[0], 0)
	for i := 0; i < len(of); i++ {
		s := d.States[of[i]]
		edges := d.merged(s, class)
		for j := range edges {
			edges[j].To = add(edges[j].To, first[edges[j].To])
		}
		out.States = append(out.States, State{slices.Clip(edges), s.Accept})
	}
	return out
}

// Empty tells whether the language has no text.
func (d *DFA) Empty() bool { return !d.live()[0] }
