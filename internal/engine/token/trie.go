package token

// trie finds added tokens in text. The zero trie is empty. A node takes 16 bytes,
// so that a hostile list of added tokens takes no more than a small multiple of its
// own size; the children of a node are a linked list.
type trie struct {
	nodes []node
	first [256]int32 // the node of a one-byte prefix, 0 if no token starts with the byte
	added []addedToken
}

type node struct {
	child, sibling int32 // 0: none
	token          int32 // place in added plus one, 0: no token ends here
	c              byte
}

// maxAdded bounds the bytes of an added token, and so what a search at one place of
// a text can cost.
const maxAdded = 512

// addedToken says when and how the text of a token is taken as a whole.
type addedToken struct {
	id      int32
	guarded bool // only trusted text may match
	left    bool // takes the blanks before it
	right   bool // takes the blanks after it
	word    bool // only where neither neighbour is of a word
}

func (t *trie) empty() bool { return len(t.added) == 0 }

// add files a text, which is not empty; of two equal texts the first counts.
func (t *trie) add(text string, a addedToken) {
	if t.nodes == nil {
		t.nodes = make([]node, 1)
	}
	at := t.first[text[0]]
	if at == 0 {
		at = t.node(text[0])
		t.first[text[0]] = at
	}
	for i := 1; i < len(text); i++ {
		next := t.step(at, text[i])
		if next == 0 {
			next = t.node(text[i])
			t.nodes[next].sibling, t.nodes[at].child = t.nodes[at].child, next
		}
		at = next
	}
	if n := &t.nodes[at]; n.token == 0 {
		t.added = append(t.added, a)
		n.token = int32(len(t.added))
	}
}

func (t *trie) node(c byte) int32 {
	t.nodes = append(t.nodes, node{c: c})
	return int32(len(t.nodes) - 1)
}

func (t *trie) step(at int32, c byte) int32 {
	next := t.nodes[at].child
	for next != 0 && t.nodes[next].c != c {
		next = t.nodes[next].sibling
	}
	return next
}

// whole finds the token whose text is s.
func (t *trie) whole(s string) (id int32, ok bool) {
	if a, n := t.match(s, len(s)); n == len(s) && n > 0 {
		return a.id, true
	}
	return 0, false
}

// match finds the longest token that s starts with, where only the first trusted
// bytes of s may be a guarded token; n is 0 if there is none.
func (t *trie) match(s string, trusted int) (found *addedToken, n int) {
	if len(s) == 0 {
		return nil, 0
	}
	at := t.first[s[0]]
	for i := 1; at != 0; i++ {
		if x := t.nodes[at].token; x > 0 {
			if a := &t.added[x-1]; !a.guarded || i <= trusted {
				found, n = a, i
			}
		}
		if i == len(s) {
			break
		}
		at = t.step(at, s[i])
	}
	return found, n
}
