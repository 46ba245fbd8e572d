package kernel

import "encoding/binary"

// Tiles of quantised formats keep the file's bits in another order, and not one more.
// All are made of the same pieces, each for a group of 32 values of 16 rows.
//
// Nibbles, 256 bytes: a 4-byte cell holds one row's values k = 4g..4g+3 in its low
// halves and k = 16+4g.. in its high ones.
//
//	0   g=0: r0 r1 .. r7 (8 cells), r8 .. r15 (8 cells)
//	64  g=1: ...                                      up to g=3
//
// Fifth bits, 64 bytes: a cell for each row, whose byte i holds in bit g the one of
// k = 4g+i, g = 0..7.
//
// Scales, 32 bytes: 16 x f16.
const (
	nibbleBytes = 16 * tileRows
	fifthBytes  = 4 * tileRows
	scaleBytes  = 2 * tileRows
)

// Q4_0: nibbles | d. Q4_1: nibbles | d | m. Q5_0: nibbles, fifth bits | d.
// Q5_1: nibbles, fifth bits | d | m.

func packQ40(dst []byte, src *[tileRows][]byte) {
	for r, s := range src {
		if s != nil {
			putScale(dst[256:], r, s)
			putNibbles(dst, r, s[2:])
		}
	}
}

func packQ41(dst []byte, src *[tileRows][]byte) {
	for r, s := range src {
		if s != nil {
			putScale(dst[256:], r, s)
			putScale(dst[288:], r, s[2:])
			putNibbles(dst, r, s[4:])
		}
	}
}

func packQ50(dst []byte, src *[tileRows][]byte) {
	for r, s := range src {
		if s != nil {
			putScale(dst[320:], r, s)
			putFifths(dst[256:], r, binary.LittleEndian.Uint32(s[2:]))
			putNibbles(dst, r, s[6:])
		}
	}
}

func packQ51(dst []byte, src *[tileRows][]byte) {
	for r, s := range src {
		if s != nil {
			putScale(dst[320:], r, s)
			putScale(dst[352:], r, s[2:])
			putFifths(dst[256:], r, binary.LittleEndian.Uint32(s[4:]))
			putNibbles(dst, r, s[8:])
		}
	}
}

// putScale copies the half at s to row r.
func putScale(dst []byte, r int, s []byte) { halvesOf(dst)[r] = binary.LittleEndian.Uint16(s) }

// putNibbles copies 16 bytes of row r, of which byte j holds k = j and k = 16+j.
func putNibbles(dst []byte, r int, s []byte) {
	for g := range 4 {
		copy(dst[64*g+4*r:][:4], s[4*g:])
	}
}

// putFifths spreads the bits of row r, bit k for value k: a nibble times 1 + 2^7 + 2^14
// + 2^21 has its four bits at 0, 8, 16 and 24, and others, which go.
func putFifths(dst []byte, r int, bits uint32) {
	out := uint32(0)
	for g := range 8 {
		out |= bits >> (4 * g) & 15 * 0x204081 & 0x01010101 << g
	}
	binary.LittleEndian.PutUint32(dst[4*r:], out)
}

// Q8_0: a 4-byte cell holds k = 4g..4g+3 of a row, 512 bytes in all | d.
//
//	0   g=0: r0 .. r7 (8 cells), r8 .. r15 (8 cells)
//	64  g=1: ...                                      up to g=7
func packQ80(dst []byte, src *[tileRows][]byte) {
	for r, s := range src {
		if s == nil {
			continue
		}
		putScale(dst[512:], r, s)
		for g := range 8 {
			copy(dst[64*g+4*r:][:4], s[2+4*g:])
		}
	}
}
