//go:build !linux

package kernel

// adviseHuge does nothing where huge pages are not asked for by range.
func adviseHuge([]byte) {}

func borrow(n int) (b []byte, giveBack func()) { return alignedBytes(n), func() {} }
