package token

import (
	"math"
	"unicode/utf8"
)

// merger holds the working memory of one encoding. A word of n bytes takes
// O(n log n) time: its symbols are a linked list, its possible merges a heap.
type merger struct {
	t     *Tokenizer
	w     string // the word
	syms  []symbol
	heap  []uint64 // rank<<32 | position of the left symbol; stale entries are skipped
	cache map[string][]int32
}

// symbol is a token of the word so far; prev and next are positions, -1 at an end.
// start is its offset in the word.
type symbol struct {
	id, prev, next, start int32
}

// Ids of symbols that are no token.
const (
	gone    = -1 // merged into its left neighbour
	noPiece = -2 // text that is no piece, but may become one when merged
)

// Limits of the cache of words, which mostly holds the common ones.
const (
	cachedWords   = 4096
	cachedWordLen = 24
)

func (m *merger) word(out []int32, w string) []int32 {
	t := m.t
	if len(w) == 1 && t.algo == bpeBytes {
		return m.single(out, w[0])
	}
	if t.whole {
		if id, ok := t.normal(t.spelled(w)); ok {
			return append(out, id)
		}
	}
	if ids, ok := m.cache[w]; ok {
		return append(out, ids...)
	}
	start := len(out)
	if t.algo == wordPiece {
		out = t.wordPieces(out, w)
	} else {
		out = m.merge(out, w)
	}
	if len(w) <= cachedWordLen {
		m.remember(w, out[start:])
	}
	return out
}

func (m *merger) single(out []int32, b byte) []int32 {
	if id := m.t.bytes[b]; id >= 0 {
		return append(out, id)
	}
	if m.t.unk >= 0 {
		return append(out, m.t.unk)
	}
	return out
}

// remember caches a word, on a copy that holds no longer text alive.
func (m *merger) remember(w string, ids []int32) {
	if m.cache == nil || len(m.cache) >= cachedWords {
		m.cache = make(map[string][]int32)
	}
	m.cache[string([]byte(w))] = append([]int32(nil), ids...)
}

// merge appends the tokens of one word: always the pair of lowest rank becomes
// one, of equal ranks the leftmost, until no pair is left.
func (m *merger) merge(out []int32, w string) []int32 {
	m.load(w)
	for len(m.heap) > 0 {
		top := m.pop()
		rank, at := uint32(top>>32), int32(uint32(top))
		left := &m.syms[at]
		if left.id == gone || left.next < 0 {
			continue
		}
		x, ok := m.find(at)
		if !ok || x.rank != rank {
			continue // one of the two was merged meanwhile
		}
		right := &m.syms[left.next]
		left.id, right.id = x.id, gone
		if left.next = right.next; left.next >= 0 {
			m.syms[left.next].prev = at
			m.offer(at)
		}
		if left.prev >= 0 {
			m.offer(left.prev)
		}
	}
	return m.emit(out)
}

// emit appends the symbols that are left.
func (m *merger) emit(out []int32) []int32 {
	if len(m.syms) == 0 {
		return out
	}
	fused := false // the token before is the unknown one, and made here
	for at := int32(0); at >= 0; at = m.syms[at].next {
		if s := m.syms[at]; s.id != noPiece {
			out, fused = append(out, s.id), false
			continue
		}
		out, fused = m.fallback(out, m.text(at), fused)
	}
	return out
}

// fallback appends the bytes of a text that is no piece; a byte without a token is
// unknown, and of unknown neighbours there is one token.
func (m *merger) fallback(out []int32, text string, fused bool) ([]int32, bool) {
	for i := range len(text) {
		if id := m.t.bytes[text[i]]; id >= 0 {
			out, fused = append(out, id), false
		} else if m.t.unk >= 0 && !fused {
			out, fused = append(out, m.t.unk), true
		}
	}
	return out, fused
}

// text is what a symbol covers.
func (m *merger) text(at int32) string { return m.w[m.syms[at].start:m.end(at)] }

func (m *merger) end(at int32) int32 {
	if next := m.syms[at].next; next >= 0 {
		return m.syms[next].start
	}
	return int32(len(m.w))
}

// find is the merge of a symbol with its right neighbour, which it has.
func (m *merger) find(at int32) (merge, bool) {
	left := m.syms[at]
	if m.t.algo != bpeScores {
		x, ok := m.t.merges[pair(left.id, m.syms[left.next].id)]
		return x, ok
	}
	end := m.end(left.next)
	if int(end-left.start) > m.t.longest {
		return merge{}, false
	}
	id, ok := m.t.normal(m.w[left.start:end])
	if !ok {
		return merge{}, false
	}
	return merge{rank: descending(m.t.scores[id]), id: id}, true
}

// descending maps a score to a number that is the smaller, the higher the score is.
func descending(score float32) uint32 {
	bits := math.Float32bits(score + 0) // -0 is 0
	if bits>>31 == 0 {
		return ^(bits | 1<<31)
	}
	return bits
}

// load makes one symbol of each byte or rune, and offers all their merges.
func (m *merger) load(w string) {
	m.w, m.syms, m.heap = w, m.syms[:0], m.heap[:0]
	if m.t.algo == bpeBytes {
		m.loadBytes(w)
	} else {
		m.loadRunes(w)
	}
	if n := len(m.syms); n > 0 {
		m.syms[n-1].next = -1
	}
	for i := range m.syms {
		m.offer(int32(i))
	}
}

// loadBytes makes one symbol of each byte; bytes without a token are left out, unless
// there is an unknown token.
func (m *merger) loadBytes(w string) {
	fused := false
	for i := range len(w) {
		id := m.t.bytes[w[i]]
		if id >= 0 {
			m.symbol(id, i)
		} else if m.t.unk >= 0 && !(fused && m.t.fuse) {
			m.symbol(m.t.unk, i)
		}
		fused = id < 0
	}
}

// loadRunes makes one symbol of each rune. One that is no piece stays as text when
// scores decide, since a longer piece may hold it; else it becomes its bytes' tokens.
func (m *merger) loadRunes(w string) {
	fused := false
	for i := 0; i < len(w); {
		_, n := utf8.DecodeRuneInString(w[i:])
		id, ok := m.t.normal(w[i : i+n])
		switch {
		case ok:
			m.symbol(id, i)
		case m.t.algo == bpeScores:
			m.symbol(noPiece, i)
		default:
			fused = m.spell(w[i:i+n], i, fused)
			i += n
			continue
		}
		fused = false
		i += n
	}
}

// spell makes a symbol of each byte of a rune, or the unknown token when one has none.
func (m *merger) spell(text string, at int, fused bool) bool {
	for i := range len(text) {
		if m.t.bytes[text[i]] >= 0 {
			continue
		}
		if m.t.unk >= 0 && !(fused && m.t.fuse) {
			m.symbol(m.t.unk, at)
		}
		return true
	}
	for i := range len(text) {
		m.symbol(m.t.bytes[text[i]], at+i)
	}
	return false
}

func (m *merger) symbol(id int32, start int) {
	n := int32(len(m.syms))
	m.syms = append(m.syms, symbol{id: id, prev: n - 1, next: n + 1, start: int32(start)})
}

// offer puts the merge of a symbol with its right neighbour on the heap, if it has one.
func (m *merger) offer(at int32) {
	if m.syms[at].next < 0 {
		return
	}
	if x, ok := m.find(at); ok {
		m.push(uint64(x.rank)<<32 | uint64(at))
	}
}
