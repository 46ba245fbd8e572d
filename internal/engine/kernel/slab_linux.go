package kernel

import "golang.org/x/sys/unix"

// adviseHuge asks for huge pages. Without them everything works, slower, so a
// refusal is no error.
func adviseHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
