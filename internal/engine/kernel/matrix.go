package kernel

import (
	"fmt"
	"math"

	"macaron/internal/errs"
)

// Matrix is a frozen weight matrix W[rows, k]. Rows are packed in tiles of 16 that
// lie side by side in the vector lanes, so a product needs no horizontal sums:
//
//	tile 0: block 0 of rows 0..15 | block 1 of rows 0..15 | ...
//	tile 1: block 0 of rows 16..31 | ...
//
// The last tile is padded with rows of zeros. A Matrix is safe for concurrent use.
type Matrix struct {
	format  Format
	rows, k int
	blocks  int // per row
	data    []byte
}

// Pack copies a row-major matrix out of a model file into tiles. raw holds rows of
// k/BlockLen blocks without gaps and is not kept. It fails with FormatInvalid when
// the sizes do not fit together and Unsupported for an unknown format.
func Pack(f Format, rows, k int, raw []byte) (*Matrix, error) {
	if !f.known() {
		return nil, errs.Newf(errs.Unsupported, "weight format %d is not known", uint8(f))
	}
	l := &layouts[f]
	if rows <= 0 || k <= 0 || k%l.block != 0 {
		return nil, errs.Newf(errs.FormatInvalid, "a %s matrix cannot have %d rows of %d values (blocks hold %d)", l.name, rows, k, l.block)
	}
	if blocks := k / l.block; rows > math.MaxInt/tileRows/l.tile/blocks || len(raw) != rows*blocks*l.bytes {
		return nil, errs.Newf(errs.FormatInvalid, "a %s matrix of %d rows and %d columns does not take %d bytes", l.name, rows, k, len(raw))
	}
	m := &Matrix{format: f, rows: rows, k: k, blocks: k / l.block}
	m.data = WeightBytes(m.tiles() * m.tileBytes())
	for t := range m.tiles() {
		m.packTile(t, raw)
	}
	return m, nil
}

func (m *Matrix) packTile(t int, raw []byte) {
	l := &layouts[m.format]
	stride := m.blocks * l.bytes
	dst := m.tile(t)
	var src [tileRows][]byte
	for b := 0; b < m.blocks; b += l.run() {
		n := min(l.run(), m.blocks-b)
		for r := range src {
			if row := t*tileRows + r; row < m.rows {
				src[r] = raw[row*stride+b*l.bytes:][:n*l.bytes]
			}
		}
		l.pack(dst[b*l.tile:][:n*l.tile], &src)
	}
}

// Rows is the number of output values.
func (m *Matrix) Rows() int { return m.rows }

// K is the number of input values.
func (m *Matrix) K() int { return m.k }

// Format is the storage format.
func (m *Matrix) Format() Format { return m.format }

// Bytes is the memory that the packed weights take.
func (m *Matrix) Bytes() int { return len(m.data) }

// Row dequantises row i into dst[:K].
func (m *Matrix) Row(i int, dst []float32) {
	if i < 0 || i >= m.rows || len(dst) < m.k {
		panic(fmt.Sprintf("kernel: row %d into %d values, of a matrix [%d, %d]", i, len(dst), m.rows, m.k))
	}
	l := &layouts[m.format]
	tile := m.tile(i / tileRows)
	for b := 0; b < m.blocks; b += l.run() {
		n := min(l.run(), m.blocks-b)
		l.unpack(dst[b*l.block:][:n*l.block], tile[b*l.tile:][:n*l.tile], i%tileRows)
	}
}

func (m *Matrix) tiles() int     { return (m.rows + tileRows - 1) / tileRows }
func (m *Matrix) tileBytes() int { return m.blocks * layouts[m.format].tile }

func (m *Matrix) tile(t int) []byte {
	n := m.tileBytes()
	return m.data[t*n : (t+1)*n : (t+1)*n]
}
