package kernel

import (
	"encoding/binary"
	"math"
)

// A tile read row by row, for products that sum over rows: 32 values of 16 rows at a time,
// w = d*(q-centre) + m with one rounding, which is what unpack gives.

// rowFactors belong to a group of 32 values of 16 rows. d has one for each half of the
// group. A format without an offset has m = -0, which leaves the sign of a zero.
type rowFactors struct {
	d      [2][tileRows]float32
	m      [tileRows]float32
	centre float32
}

// rowCells are the integers of a group as signed bytes: a 4-byte cell holds one row's
// values k = 4g..4g+3; all rows of g = 0, then of g = 1, up to 7.
type rowCells [qBlock * tileRows]byte

// rowReader reads group sub of a packed block of one format; cells may be the tile's own.
type rowReader struct {
	cells   func(buf *rowCells, tile []byte, sub int) []byte
	factors func(f *rowFactors, tile []byte, sub int)
}

var rowReaders = [len(layouts)]rowReader{
	Q4_0: {cellsQ4, func(f *rowFactors, tile []byte, _ int) { f.centred(tile[256:], 8) }},
	Q4_1: {cellsQ4, func(f *rowFactors, tile []byte, _ int) { f.affine(tile[256:]) }},
	Q5_0: {cellsQ5, func(f *rowFactors, tile []byte, _ int) { f.centred(tile[320:], 16) }},
	Q5_1: {cellsQ5, func(f *rowFactors, tile []byte, _ int) { f.affine(tile[320:]) }},
	Q8_0: {cellsQ8, func(f *rowFactors, tile []byte, _ int) { f.centred(tile[512:], 0) }},
	Q4_K: {cellsQ4, func(f *rowFactors, tile []byte, sub int) { f.subscaled(tile[kGroups*nibbleBytes:], sub) }},
	Q5_K: {cellsQ5, func(f *rowFactors, tile []byte, sub int) { f.subscaled(tile[kGroups*group5Bytes:], sub) }},
	Q6_K: {cellsQ6, (*rowFactors).sixths},
}

func (f *rowFactors) centred(scales []byte, centre float32) {
	floats(f.d[0][:], halvesOf(scales[:scaleBytes]))
	f.d[1] = f.d[0]
	f.none()
	f.centre = centre
}

func (f *rowFactors) affine(scales []byte) {
	floats(f.d[0][:], halvesOf(scales[:scaleBytes]))
	f.d[1] = f.d[0]
	floats(f.m[:], halvesOf(scales[scaleBytes:2*scaleBytes]))
	f.centre = 0
}

func (f *rowFactors) subscaled(subs []byte, sub int) {
	for r := range tileRows {
		f.d[0][r], f.m[r] = scalesK(subs, sub, r)
	}
	f.d[1], f.centre = f.d[0], 0
}

func (f *rowFactors) sixths(tile []byte, sub int) {
	for r := range tileRows {
		d, _ := scalesQ6K(tile, 0, r)
		sc := subScalesQ6K(tile, sub, r)
		f.d[0][r], f.d[1][r] = d*float32(sc[0]), d*float32(sc[1])
	}
	f.none()
	f.centre = 32
}

// none sets the offset to -0.
func (f *rowFactors) none() {
	for r := range f.m {
		f.m[r] = float32(math.Copysign(0, -1))
	}
}

// cellsQ8: tiles of Q8_0 are such cells.
func cellsQ8(_ *rowCells, tile []byte, _ int) []byte { return tile }

func cellsQ4(buf *rowCells, tile []byte, sub int) []byte {
	buf.nibbles(tile[sub*nibbleBytes:])
	return buf[:]
}

func cellsQ5(buf *rowCells, tile []byte, sub int) []byte {
	group := tile[sub*group5Bytes:]
	buf.nibbles(group)
	for at := 0; at < fifthBytes; at += 8 {
		bits := binary.LittleEndian.Uint64(group[nibbleBytes+at:])
		for g := range 8 {
			buf.or(64*g+at, bits>>g&(1*everyByte)<<4)
		}
	}
	return buf[:]
}

func cellsQ6(buf *rowCells, tile []byte, sub int) []byte {
	group := tile[sub*group6Bytes:]
	buf.nibbles(group)
	for at := 0; at < sixthBytes; at += 8 {
		bits := binary.LittleEndian.Uint64(group[nibbleBytes+at:])
		for g := range 4 {
			buf.or(at/64*256+64*g+at%64, bits>>(2*g)&(3*everyByte)<<4)
		}
	}
	return buf[:]
}

// everyByte times a byte is a word of them.
const everyByte = 0x0101010101010101

// nibbles spreads the halves of a group: low ones are k < 16.
func (c *rowCells) nibbles(group []byte) {
	for at := 0; at < nibbleBytes; at += 8 {
		b := binary.LittleEndian.Uint64(group[at:])
		binary.LittleEndian.PutUint64(c[at:], b&(15*everyByte))
		binary.LittleEndian.PutUint64(c[nibbleBytes+at:], b>>4&(15*everyByte))
	}
}

func (c *rowCells) or(at int, bits uint64) {
	binary.LittleEndian.PutUint64(c[at:], binary.LittleEndian.Uint64(c[at:])|bits)
}

// stripeScratch is what a stripe is read through.
type stripeScratch struct {
	factors rowFactors
	cells   rowCells
	row     [256]float32
	tile    []float32 // one tile of floats, widened
}

// unpackTileRows dequantises columns [c0, c1) of a whole tile into dst[tile of 16
// columns][row][16], step values from one tile of columns to the next.
func (m *Matrix) unpackTileRows(s *stripeScratch, dst []float32, step, t, c0, c1 int) {
	l, read, tile := &layouts[m.format], &rowReaders[m.format], m.tile(t)
	for c := c0; c < c1; c += qBlock {
		block := tile[c/l.block*l.tile:][:l.tile]
		sub := c % l.block / qBlock
		read.factors(&s.factors, block, sub)
		rows(dst[(c-c0)/tileRows*step:], step, read.cells(&s.cells, block, sub), &s.factors)
	}
}

// rowsRef turns a group: values k < 16 of row r go to dst[16*r + k], the others step
// further.
func rowsRef(dst []float32, step int, cells []byte, f *rowFactors) {
	for k := range qBlock {
		half := k / tileRows
		for r := range tileRows {
			q := float32(int8(cells[k/4*64+4*r+k%4])) - f.centre
			dst[half*step+r*tileRows+k%tileRows] = fma32(f.d[half][r], q, f.m[r])
		}
	}
}

// unpackFloatRows does the same for formats without blocks.
func (m *Matrix) unpackFloatRows(s *stripeScratch, dst []float32, step, t, c0, c1 int) {
	tile, n := m.tile(t), (c1-c0)*tileRows
	s.tile = grow(s.tile, n)
	src := s.tile
	switch m.format {
	case F32:
		src = floatsOf(tile)[c0*tileRows:][:n]
	case F16:
		floats(src, halvesOf(tile)[c0*tileRows:][:n])
	case BF16:
		for i, h := range halvesOf(tile)[c0*tileRows:][:n] {
			src[i&^15|i&1<<3|i>>1&7] = brain16(h)
		}
	}
	for c := c0; c < c1; c += tileRows {
		transpose(dst[(c-c0)/tileRows*step:], tileRows, src[(c-c0)*tileRows:], tileRows, min(tileRows, c1-c), tileRows)
	}
}
