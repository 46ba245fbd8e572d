package grammar

import "bytes"

// trie is a forest over bytes in preorder. Node i has the byte sym[i] at depth
// depth[i], from 1; what follows its subtree is at skip[i].
type trie struct {
	sym   []byte
	depth []uint8
	skip  []int32
	token []int32           // at this node, -1 for none
	more  map[int32][]int32 // further tokens of the same bytes, by node
}

// add appends the tree of the tokens ids, which are sorted by their bytes.
func (t *trie) add(names [][]byte, ids []int32) {
	var path [maxPiece + 1]int32 // open node at each depth
	open := 0
	var last []byte
	for _, id := range ids {
		name := names[id]
		common := commonPrefix(last, name)
		for ; open > common; open-- {
			t.skip[path[open]] = int32(len(t.sym))
		}
		for ; open < len(name); open++ {
			path[open+1] = int32(len(t.sym))
			t.sym, t.depth = append(t.sym, name[open]), append(t.depth, uint8(open+1))
			t.skip, t.token = append(t.skip, 0), append(t.token, -1)
		}
		t.put(path[open], id)
		last = name
	}
	for ; open > 0; open-- {
		t.skip[path[open]] = int32(len(t.sym))
	}
}

func (t *trie) put(node, id int32) {
	if t.token[node] < 0 {
		t.token[node] = id
		return
	}
	if t.more == nil {
		t.more = map[int32][]int32{}
	}
	t.more[node] = append(t.more[node], id)
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// sorter orders tokens by their bytes. The first eight are compared as one number.
type sorter struct {
	names [][]byte
	keys  []uint64
}

func newSorter(names [][]byte) *sorter {
	s := &sorter{names, make([]uint64, len(names))}
	for i, n := range names {
		for j := range 8 {
			s.keys[i] <<= 8
			if j < len(n) {
				s.keys[i] |= uint64(n[j])
			}
		}
	}
	return s
}

func (s *sorter) compare(a, b int32) int {
	switch ka, kb := s.keys[a], s.keys[b]; {
	case ka < kb:
		return -1
	case ka > kb:
		return 1
	}
	if c := bytes.Compare(s.names[a], s.names[b]); c != 0 {
		return c
	}
	return int(a - b)
}
