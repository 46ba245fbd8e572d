package kernel

import "encoding/binary"

// What packed blocks hold, read back: the integers and factors that the Int8 product
// needs, and the values as ggml dequantises them. Products of factors and integers are
// exact in float32 (11 bits of a half, 6 or 8 of a sub-scale, 4 to 6 of an integer), so
// each value is rounded once at most.

// codesQ4 reads group sub of consecutive nibbles.
func codesQ4(q *[qBlock]int32, tile []byte, sub, r int) {
	nibbles(q, tile[sub*nibbleBytes:], r)
}

// codesQ5 reads group sub of consecutive nibbles and fifth bits.
func codesQ5(q *[qBlock]int32, tile []byte, sub, r int) {
	group := tile[sub*group5Bytes:]
	nibbles(q, group, r)
	bits := binary.LittleEndian.Uint32(group[nibbleBytes+4*r:])
	for k := 0; k < qBlock; k += 4 {
		b := bits >> (k / 4) << 4
		q[k] |= int32(b & 16)
		q[k+1] |= int32(b >> 8 & 16)
		q[k+2] |= int32(b >> 16 & 16)
		q[k+3] |= int32(b >> 24 & 16)
	}
}

// codesQ6K gives sc*(q-32), so that d alone is left.
func codesQ6K(q *[qBlock]int32, tile []byte, sub, r int) {
	sixths(q, tile, sub, r)
	sc := subScalesQ6K(tile, sub, r)
	for i := range q {
		q[i] *= sc[i/16]
	}
}

func codesQ80(q *[qBlock]int32, tile []byte, _, r int) {
	for k := 0; k < qBlock; k += 4 {
		c := tile[16*k+4*r:][:4]
		q[k], q[k+1], q[k+2], q[k+3] = int32(int8(c[0])), int32(int8(c[1])), int32(int8(c[2])), int32(int8(c[3]))
	}
}

func nibbles(q *[qBlock]int32, cells []byte, r int) {
	for k := 0; k < qBlock/2; k += 4 {
		c := cells[16*k+4*r:][:4]
		low, high := q[k:k+4], q[16+k:20+k]
		low[0], low[1], low[2], low[3] = int32(c[0]&15), int32(c[1]&15), int32(c[2]&15), int32(c[3]&15)
		high[0], high[1], high[2], high[3] = int32(c[0]>>4), int32(c[1]>>4), int32(c[2]>>4), int32(c[3]>>4)
	}
}

// sixths gives q-32 of a Q6_K group.
func sixths(q *[qBlock]int32, tile []byte, sub, r int) {
	group := tile[sub*group6Bytes:]
	nibbles(q, group, r)
	for half := range 2 {
		for i, b := range group[nibbleBytes+64*half+4*r:][:4] {
			for g := range 4 {
				q[16*half+4*g+i] += int32(b)>>(2*g)&3<<4 - 32
			}
		}
	}
}

func scale(tile []byte, at, r int) float32 { return half16(halvesOf(tile[at:])[r]) }

func scalesQ40(tile []byte, _, r int) (d, m float32) {
	d = scale(tile, 256, r)
	return d, -8 * d
}

func scalesQ41(tile []byte, _, r int) (d, m float32) { return scale(tile, 256, r), scale(tile, 288, r) }

func scalesQ50(tile []byte, _, r int) (d, m float32) {
	d = scale(tile, 320, r)
	return d, -16 * d
}

func scalesQ51(tile []byte, _, r int) (d, m float32) { return scale(tile, 320, r), scale(tile, 352, r) }
func scalesQ80(tile []byte, _, r int) (d, m float32) { return scale(tile, 512, r), 0 }

func scalesQ4K(tile []byte, sub, r int) (d, m float32) {
	return scalesK(tile[kGroups*nibbleBytes:], sub, r)
}

func scalesQ5K(tile []byte, sub, r int) (d, m float32) {
	return scalesK(tile[kGroups*group5Bytes:], sub, r)
}

// scalesK reads sub-scales, d and e: d*sc and -e*mn.
func scalesK(subs []byte, sub, r int) (d, m float32) {
	low, up := subs[sub*subBytes+r], subs[sub*subBytes+tileRows+r%8]>>(r/8*4)
	sc, mn := low&15|up&3<<4, low>>4|up>>2&3<<4
	return scale(subs, kGroups*subBytes, r) * float32(sc), -(scale(subs, kGroups*subBytes+scaleBytes, r) * float32(mn))
}

func scalesQ6K(tile []byte, _, r int) (d, m float32) {
	return scale(tile, kGroups*(group6Bytes+2*tileRows), r), 0
}

func subScalesQ6K(tile []byte, sub, r int) (sc [2]int32) {
	s := tile[kGroups*group6Bytes+2*(sub*tileRows+r):]
	return [2]int32{int32(int8(s[0])), int32(int8(s[1]))}
}

func unpackQ40(dst []float32, tile []byte, r int) { centred(dst, tile, r, 8, codesQ4, scalesQ40) }
func unpackQ50(dst []float32, tile []byte, r int) { centred(dst, tile, r, 16, codesQ5, scalesQ50) }
func unpackQ80(dst []float32, tile []byte, r int) { centred(dst, tile, r, 0, codesQ80, scalesQ80) }
func unpackQ41(dst []float32, tile []byte, r int) { affine(dst, tile, r, codesQ4, scalesQ41) }
func unpackQ51(dst []float32, tile []byte, r int) { affine(dst, tile, r, codesQ5, scalesQ51) }
func unpackQ4K(dst []float32, tile []byte, r int) { affine(dst, tile, r, codesQ4, scalesQ4K) }
func unpackQ5K(dst []float32, tile []byte, r int) { affine(dst, tile, r, codesQ5, scalesQ5K) }

type (
	codesFunc  func(q *[qBlock]int32, tile []byte, sub, r int)
	scalesFunc func(tile []byte, sub, r int) (d, m float32)
)

// centred is w = d*(q-centre): no sum, so that zeros keep the sign that ggml gives them.
func centred(dst []float32, tile []byte, r int, centre int32, codes codesFunc, scales scalesFunc) {
	var q [qBlock]int32
	codes(&q, tile, 0, r)
	d, _ := scales(tile, 0, r)
	for i, v := range q {
		dst[i] = d * float32(v-centre)
	}
}

// affine is w = d*q + m for each group.
func affine(dst []float32, tile []byte, r int, codes codesFunc, scales scalesFunc) {
	var q [qBlock]int32
	for sub := range len(dst) / qBlock {
		codes(&q, tile, sub, r)
		d, m := scales(tile, sub, r)
		for i, v := range q {
			dst[sub*qBlock+i] = d*float32(v) + m
		}
	}
}

func unpackQ6K(dst []float32, tile []byte, r int) {
	var q [qBlock]int32
	d, _ := scalesQ6K(tile, 0, r)
	for sub := range len(dst) / qBlock {
		sixths(&q, tile, sub, r)
		sc := subScalesQ6K(tile, sub, r)
		for i, v := range q {
			dst[sub*qBlock+i] = d * float32(sc[i/16]) * float32(v)
		}
	}
}
