package gguf

import (
	"encoding/binary"
	"math/bits"

	"macaron/internal/errs"
)

// cursor walks the file's bytes. Every step is checked against what is left.
type cursor struct {
	b   []byte
	off uint64 // always at most len(b)
}

func bad(format string, args ...any) error { return errs.Newf(errs.FormatInvalid, format, args...) }

func (c *cursor) left() uint64 { return uint64(len(c.b)) - c.off }

// take returns the next n bytes without copying.
func (c *cursor) take(n uint64, what string) ([]byte, error) {
	if n > c.left() {
		return nil, bad("%s at byte %d needs %d bytes, %d are left", what, c.off, n, c.left())
	}
	s := c.b[c.off : c.off+n : c.off+n]
	c.off += n
	return s, nil
}

func (c *cursor) u32(what string) (uint32, error) {
	b, err := c.take(4, what)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (c *cursor) u64(what string) (uint64, error) {
	b, err := c.take(8, what)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// str reads a length and as many bytes; limit bounds the length.
func (c *cursor) str(limit uint64, what string) ([]byte, error) {
	n, err := c.u64(what)
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, bad("%s at byte %d is %d bytes long, at most %d are allowed", what, c.off, n, limit)
	}
	return c.take(n, what)
}

// mul multiplies and tells whether the product fits in 64 bits.
func mul(a, b uint64) (uint64, bool) {
	hi, lo := bits.Mul64(a, b)
	return lo, hi == 0
}

// alignUp rounds n up to a multiple of align (a power of two); ok is false on overflow.
func alignUp(n, align uint64) (uint64, bool) {
	up := n + align - 1
	return up &^ (align - 1), up >= n
}
