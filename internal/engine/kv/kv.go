// Package kv is the index of the prefix cache: which page of keys and values holds
// which tokens, computed under which weights. It is pure: pages are numbers, their
// bytes live in the model's arena.
//
// A page holds PageTokens consecutive positions. Pages form one radix tree per Key;
// a node is a page, its tokens are compared one by one when it is reused, and a path
// from the root spells a prefix. Because the key names weights by content (base and
// adapter revision), an adapter published again under the same name with other bytes
// can never hit, and because it names the salt, tenants do not see each other's pages.
//
// A sequence may go over to other weights at one position (Switch). The pages before it
// are those of its Key and shared with everybody under that key; the page with the
// position carries the switch, and the pages after it hang below that page, so that a
// path still spells everything its keys and values depend on.
//
// Sequences hold references on the nodes of their path. Nodes nobody references stay
// until their page is needed, least recently used first.
package kv

import (
	"container/list"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

// PageTokens is the number of positions in one page.
const PageTokens = 64

// Key says what a prefix was computed with.
type Key struct {
	Base    ids.Digest // the base model
	Adapter ids.Digest // the adapter's revision; empty for the bare base
	Salt    string     // tenant
}

// Switch says that the positions of a sequence from At on are computed with other weights
// than those before. The zero Switch is none.
type Switch struct {
	At   int
	With ids.Digest // names the weights; empty: there is no switch
}

// page is the switch as it stands in page i, its position counted from the page's first.
func (s Switch) page(i int) Switch {
	if s.With == "" || s.At/PageTokens != i {
		return Switch{}
	}
	return Switch{s.At % PageTokens, s.With}
}

// alike is how many positions of two pages with n equal tokens hold equal bits.
func alike(a, b Switch, n int) int {
	for _, s := range []Switch{a, b} {
		if s.With != "" && a != b {
			n = min(n, s.At)
		}
	}
	return n
}

// Copy tells the caller to copy the first Tokens positions of page From to page To,
// now, before the next call to the cache.
type Copy struct {
	From, To int32
	Tokens   int
}

// Stats counts since the cache was made; Pages, Cached and InUse are of now.
type Stats struct {
	Pages     int   `json:"pages"`      // the bound
	Cached    int   `json:"cached"`     // pages in the tree
	InUse     int   `json:"in_use"`     // pages that a running sequence holds
	Lookups   int64 `json:"lookups"`    // sequences opened
	HitTokens int64 `json:"hit_tokens"` // positions that were reused
	AskTokens int64 `json:"ask_tokens"` // positions that were asked for
	Evictions int64 `json:"evictions"`  // pages dropped to make room
}

// Cache is the index. It is not safe for concurrent use: the engine's one loop owns it.
type Cache struct {
	roots     map[Key]*node
	free      []int32
	total     int
	evictable int        // nodes without references
	reserved  int        // pages promised to open sequences
	lru       *list.List // *node, most recently used first
	stats     Stats
}

// New makes an index over pages numbered 0 to pages-1.
func New(pages int) *Cache {
	c := &Cache{roots: map[Key]*node{}, total: pages, lru: list.New()}
	for p := pages - 1; p >= 0; p-- {
		c.free = append(c.free, int32(p))
	}
	return c
}

// PagesFor is the number of pages that n tokens take.
func PagesFor(n int) int { return (n + PageTokens - 1) / PageTokens }

// Open starts a sequence that will hold at most limit tokens, the first of which are
// tokens; at most reuse of them are taken from the cache. sw is where its weights change. It returns nil when the
// pages are not available now. The copy, if any, must be done before anything else.
func (c *Cache) Open(key Key, sw Switch, tokens []int32, reuse, limit int) (*Seq, *Copy) {
	root := c.root(key)
	path, part, shared := match(root, sw, tokens[:min(reuse, len(tokens))])
	for _, n := range path {
		c.ref(n)
	}
	if part != nil {
		c.ref(part) // so that it is not evicted before the copy
	}
	need := PagesFor(limit) - len(path)
	if part != nil && need > c.available() {
		c.unref(part) // its page may be the one that is missing
		part, shared = nil, 0
	}
	if need > c.available() {
		c.release(root, path)
		return nil, nil
	}
	c.reserved += need
	s := &Seq{c: c, root: root, sw: sw, path: path, reserved: need}
	s.pages = make([]int32, 0, PagesFor(limit))
	for _, n := range path {
		s.pages = append(s.pages, n.page)
	}
	root.seqs++
	s.tokens = append(make([]int32, 0, limit), tokens[:len(path)*PageTokens+shared]...)
	c.stats.Lookups++
	c.stats.AskTokens += int64(len(tokens))
	c.stats.HitTokens += int64(len(s.tokens))
	if part == nil {
		return s, nil
	}
	s.Grow(len(s.tokens))
	c.unref(part)
	c.lru.MoveToFront(part.at)
	return s, &Copy{From: part.page, To: s.pages[len(path)], Tokens: shared}
}

// Holds is how many of the tokens' positions can be taken from the cache now.
func (c *Cache) Holds(key Key, sw Switch, tokens []int32) int {
	root := c.roots[key]
	if root == nil || len(tokens) == 0 {
		return 0
	}
	path, _, shared := match(root, sw, tokens)
	return len(path)*PageTokens + shared
}

// Shared is how many positions of two sequences of one key, with their switches, hold
// equal bits.
func Shared(a, b []int32, of, other Switch) int { return alike(of, other, common(a, b)) }

// available is the number of pages that can still be promised.
func (c *Cache) available() int { return len(c.free) + c.evictable - c.reserved }

// Fits tells whether a sequence of limit tokens could ever be opened; the error has
// the numbers.
func (c *Cache) Fits(limit int) error {
	if PagesFor(limit) <= c.total {
		return nil
	}
	e := errs.Newf(errs.ContextExceeded, "the request needs room for %d tokens and the cache of keys and values holds %d", limit, c.total*PageTokens)
	e.Next = "shorten it, or give the engine more memory for keys and values"
	return e
}

// Stats tells what the cache did and holds.
func (c *Cache) Stats() Stats {
	s := c.stats
	s.Pages, s.Cached = c.total, c.lru.Len()
	s.InUse = c.total - len(c.free) - c.evictable
	return s
}

func (c *Cache) root(key Key) *node {
	r := c.roots[key]
	if r == nil {
		r = &node{key: key}
		c.roots[key] = r
	}
	return r
}

// take gives a free page, evicting the least recently used node when there is none.
// Reservations guarantee that one exists.
func (c *Cache) take() int32 {
	if len(c.free) == 0 {
		c.evict()
	}
	p := c.free[len(c.free)-1]
	c.free = c.free[:len(c.free)-1]
	return p
}

// evict drops the last node of the LRU order that nobody references. Touching goes
// from leaf to root, so that node has no children.
func (c *Cache) evict() {
	for e := c.lru.Back(); e != nil; e = e.Prev() {
		if n := e.Value.(*node); n.refs == 0 {
			c.drop(n)
			c.stats.Evictions++
			return
		}
	}
	panic("kv: more pages taken than reserved")
}
