package token

// trie finds added tokens in text. The zero trie is empty.
type trie struct {
	nodes []node
	first [256]bool // bytes that some token starts with
}

type node struct {
	next    map[byte]int32
	id      int32
	end     bool
	guarded bool // only trusted text may match
}

// add files a text, which is not empty, under an id; of two equal texts the first counts.
func (t *trie) add(text string, id int32, guarded bool) {
	if t.nodes == nil {
		t.nodes = make([]node, 1)
	}
	t.first[text[0]] = true
	at := int32(0)
	for i := range len(text) {
		next, ok := t.nodes[at].next[text[i]]
		if !ok {
			next = int32(len(t.nodes))
			t.nodes = append(t.nodes, node{})
			if t.nodes[at].next == nil {
				t.nodes[at].next = map[byte]int32{}
			}
			t.nodes[at].next[text[i]] = next
		}
		at = next
	}
	if n := &t.nodes[at]; !n.end {
		n.id, n.end, n.guarded = id, true, guarded
	}
}

// longest finds the longest token that s starts with; n is 0 if there is none.
func (t *trie) longest(s string) (id int32, n int) { return t.match(s, len(s)) }

// match is longest, where only the first trusted bytes of s may be a guarded token.
func (t *trie) match(s string, trusted int) (id int32, n int) {
	if t.nodes == nil {
		return 0, 0
	}
	at := int32(0)
	for i := range len(s) {
		next, ok := t.nodes[at].next[s[i]]
		if !ok {
			break
		}
		at = next
		if x := &t.nodes[at]; x.end && (!x.guarded || i < trusted) {
			id, n = x.id, i+1
		}
	}
	return id, n
}
