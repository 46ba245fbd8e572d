package kernel

import "unsafe"

const cacheLine = 64

// alignedBytes allocates n zero bytes that start on a cache line.
func alignedBytes(n int) []byte {
	b := make([]byte, n+cacheLine)
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (cacheLine - 1)
	return b[skip : skip+n : skip+n]
}

// floatsOf views packed bytes, aligned to 4, as float32 of this machine's byte order.
func floatsOf(b []byte) []float32 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4)
}

// halvesOf views packed bytes, aligned to 2, as half-precision bit patterns.
func halvesOf(b []byte) []uint16 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*uint16)(unsafe.Pointer(&b[0])), len(b)/2)
}

// grow returns a slice of n values, reusing s when it is large enough.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
