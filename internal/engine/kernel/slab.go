package kernel

import (
	"sync"
	"unsafe"
)

// Weights are read front to back once per step, so they are laid close together in
// slabs that ask for huge pages: fewer address translations, more bandwidth. A slab
// is ordinary garbage-collected memory, freed with the last matrix in it.
const (
	slabBytes = 16 << 20
	hugePage  = 2 << 20
)

var slab struct {
	sync.Mutex
	free []byte // what is left of the newest slab
}

// WeightBytes allocates n zero bytes for packed weights, on a cache line.
func WeightBytes(n int) []byte {
	if n > slabBytes/4 {
		return hugeBytes(n)
	}
	slab.Lock()
	defer slab.Unlock()
	if n > len(slab.free) {
		slab.free = hugeBytes(slabBytes)
	}
	b := slab.free[:n:n]
	slab.free = slab.free[min((n+cacheLine-1)&^(cacheLine-1), len(slab.free)):]
	return b
}

// hugeBytes allocates n zero bytes on a huge page, unless that would waste much.
func hugeBytes(n int) []byte {
	if n < hugePage {
		return alignedBytes(n)
	}
	b := make([]byte, n+hugePage)
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (hugePage - 1)
	b = b[skip : skip+n : skip+n]
	adviseHuge(b)
	return b
}

// Borrow gives room for n values, zeros, which the garbage collector neither counts nor
// frees: large memory for a while, whose return by giveBack is felt at once.
func Borrow(n int) (room []float32, giveBack func()) {
	if n == 0 {
		return nil, func() {}
	}
	b, giveBack := borrow(4 * n)
	adviseHuge(b)
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), n), giveBack
}
