package mint

import (
	"fmt"
	"io"

	"macaron/internal/errs"
)

// An archive may unpack to so many bytes, and to so many times its own size beyond: what it
// takes of memory has to be sent, more or less. Weights hardly compress; a matrix of zeros, which
// half of a new adapter is, does.
const (
	unpackFree  = 64 << 20
	unpackRatio = 32
)

// counted counts what was read.
type counted struct {
	io.Reader
	n int64
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// swelling reads what an archive unpacks to, while that is in proportion.
type swelling struct {
	from   io.Reader
	packed *counted
	n      int64
}

// Read implements io.Reader.
func (s *swelling) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	if s.n += int64(n); s.n > unpackFree+unpackRatio*s.packed.n {
		return 0, errs.New(errs.TooLarge, fmt.Sprintf("the archive unpacks to more than %d times its size", unpackRatio), "pack the adapter with less compression")
	}
	return n, err
}
