package kernel

import (
	"fmt"
	"unsafe"
)

// PageTokens is the number of positions in a page: the chunk in which attention is
// computed and merged.
const PageTokens = 64

// Page holds the keys and values of 64 consecutive positions of one layer, as half
// precision:
//
//	K[kvHead][dim][position]   positions lie side by side in the lanes of a score
//	V[kvHead][position][dim]   values lie side by side in the lanes of the output
//
// so that neither product of attention needs a horizontal sum.
type Page struct{ K, V []uint16 }

// PageLen is the length of K and of V.
func PageLen(kvHeads, dim int) int { return kvHeads * dim * PageTokens }

// NewPages allocates pages of zeros, one for each of some layers. Like weights they lie in
// memory that asks for huge pages: a step reads all of it once.
func NewPages(layers, kvHeads, dim int) []*Page {
	n := PageLen(kvHeads, dim)
	b := halvesOf(WeightBytes(4 * n * layers))
	pages := make([]*Page, layers)
	for i := range pages {
		pages[i] = &Page{K: b[:n:n], V: b[n : 2*n : 2*n]}
		b = b[2*n:]
	}
	return pages
}

// Bytes is the memory of a page that NewPages made: K, then V.
func (pg *Page) Bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(pg.K))), 2*(len(pg.K)+len(pg.V)))
}

// FloatBytes is the memory of x, for files that never leave this machine.
func FloatBytes(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// Put writes the key and the value of one position, k and v [kvHeads, dim], rounded
// to half precision and saturating at ±65504.
func (pg *Page) Put(slot int, k, v []float32, kvHeads, dim int) {
	n := kvHeads * dim
	if slot < 0 || slot >= PageTokens || len(k) < n || len(v) < n || len(pg.K) < n*PageTokens || len(pg.V) < n*PageTokens {
		panic(fmt.Sprintf("kernel: slot %d of a page for [%d, %d], keys %d, values %d", slot, kvHeads, dim, len(k), len(v)))
	}
	for h := range kvHeads {
		halves(pg.V[(h*PageTokens+slot)*dim:][:dim], v[h*dim:][:dim])
	}
	var buf [64]uint16
	for d := 0; d < n; d += len(buf) {
		part := buf[:min(len(buf), n-d)]
		halves(part, k[d:][:len(part)])
		column := pg.K[d*PageTokens+slot:]
		for i, h := range part {
			column[i*PageTokens] = h
		}
	}
}

// halvesRef rounds x to half precision.
func halvesRef(dst []uint16, x []float32) {
	for i, f := range x {
		dst[i] = toHalf(f)
	}
}

// floatsRef widens half precision; len(x) is a multiple of 8.
func floatsRef(dst []float32, x []uint16) {
	for i, h := range x {
		dst[i] = half16(h)
	}
}
