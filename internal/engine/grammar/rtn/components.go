package rtn

// components lists the strongly connected components of a graph over 0 to n-1, each
// before those that lead to it (Tarjan 1972, without recursion).
func components(next [][]int32) [][]int32 {
	t := tarjan{next: next, index: make([]int32, len(next)), low: make([]int32, len(next)), on: make([]bool, len(next))}
	for v := range next {
		if t.index[v] == 0 {
			t.visit(int32(v))
		}
	}
	return t.out
}

type tarjan struct {
	next       [][]int32
	index, low []int32 // from 1; 0 not seen
	on         []bool
	stack      []int32
	count      int32
	out        [][]int32
}

type visit struct {
	v    int32
	edge int
}

func (t *tarjan) enter(v int32) visit {
	t.count++
	t.index[v], t.low[v], t.on[v] = t.count, t.count, true
	t.stack = append(t.stack, v)
	return visit{v, 0}
}

func (t *tarjan) visit(root int32) {
	path := []visit{t.enter(root)}
	for len(path) > 0 {
		at := &path[len(path)-1]
		if at.edge < len(t.next[at.v]) {
			w := t.next[at.v][at.edge]
			at.edge++
			if t.index[w] == 0 {
				path = append(path, t.enter(w))
			} else if t.on[w] {
				t.low[at.v] = min(t.low[at.v], t.index[w])
			}
			continue
		}
		v := at.v
		path = path[:len(path)-1]
		if len(path) > 0 {
			up := path[len(path)-1].v
			t.low[up] = min(t.low[up], t.low[v])
		}
		if t.low[v] == t.index[v] {
			t.pop(v)
		}
	}
}

func (t *tarjan) pop(root int32) {
	var group []int32
	for {
		v := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.on[v] = false
		group = append(group, v)
		if v == root {
			t.out = append(t.out, group)
			return
		}
	}
}
