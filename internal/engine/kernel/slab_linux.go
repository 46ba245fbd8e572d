package kernel

import "golang.org/x/sys/unix"

// adviseHuge asks for huge pages. Without them everything works, slower, so a
// refusal is no error.
func adviseHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }

// borrow maps memory; where the system has none of that kind left, the heap serves.
func borrow(n int) (b []byte, giveBack func()) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return alignedBytes(n), func() {}
	}
	return b, func() { _ = unix.Munmap(b) }
}
