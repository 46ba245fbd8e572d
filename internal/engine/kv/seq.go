package kv

// Seq is one running sequence: its tokens whose keys and values are stored, and the
// table of its pages. Full pages are in the tree and shared; the last, partly filled
// one belongs to the sequence alone.
type Seq struct {
	c        *Cache
	root     *node
	sw       Switch
	path     []*node // one per full page
	pages    []int32 // path's pages and then private ones
	tokens   []int32
	reserved int
	closed   bool
}

// Len is the number of positions stored.
func (s *Seq) Len() int { return len(s.tokens) }

// Tokens are those whose keys and values are stored; not to be changed.
func (s *Seq) Tokens() []int32 { return s.tokens }

// Pages is the page table: position p is slot p%PageTokens of page Pages()[p/PageTokens].
// It is valid until the next Grow or Commit.
func (s *Seq) Pages() []int32 { return s.pages }

// Grow makes sure that there are pages for n tokens in all, n being at most the limit
// given to Open.
func (s *Seq) Grow(n int) {
	for len(s.pages) < PagesFor(n) {
		if s.reserved == 0 {
			panic("kv: a sequence grew beyond its limit")
		}
		s.pages = append(s.pages, s.c.take())
		s.reserved--
		s.c.reserved--
	}
}

// Commit records that the keys and values of tokens were written at positions Len()
// and on. Pages that became full join the tree.
func (s *Seq) Commit(tokens ...int32) {
	s.tokens = append(s.tokens, tokens...)
	for full := len(s.tokens) / PageTokens; len(s.path) < full; {
		i := len(s.path)
		n := s.publish(i, s.tokens[i*PageTokens:(i+1)*PageTokens])
		s.c.ref(n)
		s.path = append(s.path, n)
	}
}

// publish puts page i, holding tokens, into the tree. When the tree has them already
// its page takes the place of ours: equal tokens under an equal key have equal bits.
func (s *Seq) publish(i int, tokens []int32) *node {
	parent := s.root
	if i > 0 {
		parent = s.path[i-1]
	}
	n, kept := s.c.insert(parent, tokens, s.sw.page(i), s.pages[i])
	if !kept {
		s.c.free = append(s.c.free, s.pages[i])
		s.pages[i] = n.page
	}
	return n
}

// Close ends the sequence: what it stored, its last partly filled page included,
// stays in the cache for others. It is idempotent.
func (s *Seq) Close() {
	if s.closed {
		return
	}
	s.closed = true
	s.c.reserved -= s.reserved
	i := len(s.path)
	if tail := s.tokens[i*PageTokens:]; len(tail) > 0 {
		n := s.publish(i, tail)
		s.c.lru.MoveToFront(n.at)
		i++
	}
	for ; i < len(s.pages); i++ {
		s.c.free = append(s.c.free, s.pages[i])
	}
	s.root.seqs--
	s.c.release(s.root, s.path)
}

// Abandon ends the sequence without keeping its partly filled page, for one whose
// last writes may be incomplete.
func (s *Seq) Abandon() {
	s.tokens = s.tokens[:len(s.path)*PageTokens]
	s.Close()
}
