package kernel

import "encoding/binary"

// Tiles of 256 values have 8 groups of 32. To the pieces of pack_quant.go they add:
//
// Sub-scales of Q4_K and Q5_K, 24 bytes for each group: 16 bytes, one a row, sc&15 |
// mn&15<<4; then 8 bytes, of which byte i holds sc>>4 | mn>>4<<2 of row i in its low half
// and of row 8+i in its high one.
//
// Upper bits of Q6_K, 128 bytes: two cells of 64 bytes for each row; byte i of the first
// holds in bits 2g, 2g+1 those of k = 4g+i, of the second those of k = 16+4g+i.
//
//	Q4_K: 8 x nibbles                  | 8 x sub-scales | d | e
//	Q5_K: 8 x {nibbles, fifth bits}    | 8 x sub-scales | d | e
//	Q6_K: 8 x {nibbles, upper bits}    | 8 x 16 rows x {sc of k < 16, sc of k >= 16} | d
const (
	kGroups     = 8
	sixthBytes  = 8 * tileRows
	subBytes    = tileRows + tileRows/2
	group5Bytes = nibbleBytes + fifthBytes
	group6Bytes = nibbleBytes + sixthBytes
)

// packQ4K: the file has d, e, 12 bytes of sub-scales, 128 bytes of nibbles.
func packQ4K(dst []byte, src *[tileRows][]byte) {
	subs, d := dst[kGroups*nibbleBytes:], dst[kGroups*(nibbleBytes+subBytes):]
	for r, s := range src {
		if s == nil {
			continue
		}
		putScale(d, r, s)
		putScale(d[scaleBytes:], r, s[2:])
		putSubs(subs, r, s[4:16])
		for g := range kGroups {
			putHalves(dst[g*nibbleBytes:], r, s[16+g/2*32:], g&1)
		}
	}
}

// packQ5K: the file has d, e, 12 bytes of sub-scales, 32 bytes of fifth bits, of which
// bit g of byte k belongs to group g, 128 bytes of nibbles.
func packQ5K(dst []byte, src *[tileRows][]byte) {
	subs, d := dst[kGroups*group5Bytes:], dst[kGroups*(group5Bytes+subBytes):]
	for r, s := range src {
		if s == nil {
			continue
		}
		putScale(d, r, s)
		putScale(d[scaleBytes:], r, s[2:])
		putSubs(subs, r, s[4:16])
		for g := range kGroups {
			group := dst[g*group5Bytes:]
			putHalves(group, r, s[48+g/2*32:], g&1)
			fifths := uint32(0)
			for i := range 8 {
				fifths |= binary.LittleEndian.Uint32(s[16+4*i:]) >> g & 0x01010101 << i
			}
			binary.LittleEndian.PutUint32(group[nibbleBytes+4*r:], fifths)
		}
	}
}

// packQ6K: the file has 128 bytes of nibbles, 64 of upper bits, 16 int8 sub-scales, d.
// Groups 0-3 take the first half of each: 0 and 2 the low and high halves of its first
// 32 bytes, 1 and 3 of its second; group p bits 2p, 2p+1 of 32 bytes. Groups 4-7 likewise.
func packQ6K(dst []byte, src *[tileRows][]byte) {
	subs := dst[kGroups*group6Bytes:]
	for r, s := range src {
		if s == nil {
			continue
		}
		putScale(subs[kGroups*2*tileRows:], r, s[208:])
		for g := range kGroups {
			group, half, p := dst[g*group6Bytes:], g/4, g%4
			putHalves(group, r, s[64*half+32*(p&1):], p>>1)
			putSixths(group[nibbleBytes:], r, s[128+32*half:], 2*p)
			copy(subs[2*(g*tileRows+r):][:2], s[192+2*g:])
		}
	}
}

// putHalves takes the low (high = 0) or high halves of 32 bytes as values k = 0..31.
func putHalves(dst []byte, r int, s []byte, high int) {
	const low = 0x0f0f0f0f
	for g := range 4 {
		a, b := binary.LittleEndian.Uint32(s[4*g:]), binary.LittleEndian.Uint32(s[16+4*g:])
		binary.LittleEndian.PutUint32(dst[64*g+4*r:], a>>(4*high)&low|b>>(4*high)&low<<4)
	}
}

// putSixths takes bits shift, shift+1 of 32 bytes, one a value.
func putSixths(dst []byte, r int, s []byte, shift int) {
	for half := range 2 {
		out := uint32(0)
		for g := range 4 {
			out |= binary.LittleEndian.Uint32(s[16*half+4*g:]) >> shift & 0x03030303 << (2 * g)
		}
		binary.LittleEndian.PutUint32(dst[64*half+4*r:], out)
	}
}

// putSubs spreads 12 bytes: bytes 0-3 hold sc of groups 0-3 and the upper two bits of
// sc of groups 4-7, bytes 4-7 the same of mn, bytes 8-11 the lower four bits of both.
func putSubs(dst []byte, r int, s []byte) {
	put := func(g int, sc, mn byte) {
		sub := dst[g*subBytes:]
		sub[r] = sc&15 | mn&15<<4
		sub[tileRows+r%8] |= (sc>>4 | mn>>4<<2) << (r / 8 * 4)
	}
	for g := range 4 {
		put(g, s[g]&63, s[4+g]&63)
		put(4+g, s[8+g]&15|s[g]>>6<<4, s[8+g]>>4|s[4+g]>>6<<4)
	}
}
