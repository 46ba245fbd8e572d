//go:build unix

// Package mapped gives a file's bytes without reading them all: mapped into memory
// where the system can, else read. The file must not shrink while it is used: the
// weights that it is made for are immutable, named by their hash.
package mapped

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// File gives the bytes of a regular file, not to be changed, and a function that
// releases them. An empty file gives no bytes.
func File(path string) (raw []byte, release func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // opening a pipe would wait for a writer
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() // read-only: nothing can be lost, and the mapping outlives it
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", path)
	}
	if info.Size() == 0 {
		return nil, func() error { return nil }, nil
	}
	if info.Size() > math.MaxInt {
		return nil, nil, fmt.Errorf("%s is too large for this machine's address space", path)
	}
	raw, err = unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return raw, func() error { return unix.Munmap(raw) }, nil
}
