package kv

import "container/list"

// node is one page in the tree. The root of a key has no page.
type node struct {
	key      Key // of a root
	parent   *node
	children map[int32][]*node // by first token
	tokens   []int32           // 1 to PageTokens; only a full node has children
	sw       Switch            // within the page; of a page that ends before it there is none
	page     int32
	refs     int // sequences whose path goes through here
	seqs     int // of a root: open sequences
	at       *list.Element
}

// match walks down full pages as far as tokens go. part is the child that shares the
// most of what is left, with shared tokens in common; nil when none does.
func match(root *node, sw Switch, tokens []int32) (path []*node, part *node, shared int) {
	at := root
	for len(tokens) > 0 {
		best, n := at.closest(tokens, sw.page(len(path)))
		if n < PageTokens {
			return path, best, n
		}
		path = append(path, best)
		at, tokens = best, tokens[PageTokens:]
	}
	return path, nil, 0
}

// closest is the child with the most positions in common with a page of tokens and a
// switch.
func (n *node) closest(tokens []int32, sw Switch) (best *node, shared int) {
	for _, ch := range n.children[tokens[0]] {
		if k := alike(ch.sw, sw, common(ch.tokens, tokens)); k > shared {
			best, shared = ch, k
		}
	}
	return best, shared
}

func common(a, b []int32) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// insert puts a page under parent and gives the node that now stands for its tokens:
// an older one when it holds them all already (kept is then false, and the page is
// still the caller's), else a new one.
func (c *Cache) insert(parent *node, tokens []int32, sw Switch, page int32) (n *node, kept bool) {
	if len(tokens) <= sw.At {
		sw = Switch{}
	}
	best, shared := parent.closest(tokens, sw)
	if best != nil && shared == len(tokens) {
		return best, false
	}
	if best != nil && shared == len(best.tokens) && best.refs == 0 {
		c.drop(best) // a shorter copy of the same prefix is of no more use
	}
	n = &node{parent: parent, tokens: append([]int32(nil), tokens...), sw: sw, page: page}
	if parent.children == nil {
		parent.children = map[int32][]*node{}
	}
	parent.children[tokens[0]] = append(parent.children[tokens[0]], n)
	n.at = c.lru.PushFront(n)
	c.evictable++
	return n, true
}

// drop takes a leaf that nobody references out of the tree and frees its page.
func (c *Cache) drop(n *node) {
	list := n.parent.children[n.tokens[0]]
	for i, ch := range list {
		if ch == n {
			list = append(list[:i], list[i+1:]...)
			break
		}
	}
	if n.parent.children[n.tokens[0]] = list; len(list) == 0 {
		delete(n.parent.children, n.tokens[0])
	}
	c.lru.Remove(n.at)
	c.evictable--
	c.free = append(c.free, n.page)
	c.forget(n.parent)
}

// forget removes a root that holds nothing.
func (c *Cache) forget(n *node) {
	if n.parent == nil && len(n.children) == 0 && n.seqs == 0 {
		delete(c.roots, n.key)
	}
}

func (c *Cache) ref(n *node) {
	if n.refs == 0 {
		c.evictable--
	}
	n.refs++
}

func (c *Cache) unref(n *node) {
	n.refs--
	if n.refs == 0 {
		c.evictable++
	}
}

// release gives up a path, touching it from the leaf up.
func (c *Cache) release(root *node, path []*node) {
	for i := len(path) - 1; i >= 0; i-- {
		c.unref(path[i])
		c.lru.MoveToFront(path[i].at)
	}
	c.forget(root)
}
