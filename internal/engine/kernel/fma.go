package kernel

import "math"

// fma32 is a*b+c with one rounding to float32, as the hardware instruction gives
// it. The product of two float32 is exact in float64; the sum is rounded to odd
// there, which makes the second rounding, to float32, harmless.
func fma32(a, b, c float32) float32 {
	p, q := float64(a)*float64(b), float64(c)
	s := p + q
	t := s - p
	e := (p - (s - t)) + (q - t) // what s lost
	if e == 0 || e != e {        // exact, or not finite
		return float32(s)
	}
	bits := math.Float64bits(s)
	if bits&1 == 0 {
		if (e > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
	}
	return float32(math.Float64frombits(bits))
}

// fold8 sums eight lanes in the order of the vector code: halves, quarters, pair.
func fold8(l *[8]float32) float32 {
	a, b, c, d := l[0]+l[4], l[1]+l[5], l[2]+l[6], l[3]+l[7]
	return (a + c) + (b + d)
}

// half16 converts IEEE half precision to float32, exactly.
func half16(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exp, man := uint32(h>>10)&31, uint32(h)&1023
	switch {
	case exp == 31: // infinity, or a quiet NaN
		if man != 0 {
			man |= 512
		}
		return math.Float32frombits(sign | 255<<23 | man<<13)
	case exp != 0:
		return math.Float32frombits(sign | (exp+112)<<23 | man<<13)
	}
	f := float32(man) * (1.0 / (1 << 24))
	return math.Float32frombits(math.Float32bits(f) | sign)
}

// maxHalf is the largest finite half-precision value.
const maxHalf = 65504

// toHalf rounds to half precision, ties to even, saturating at ±65504 so that
// no stored value is infinite; NaN stays NaN.
func toHalf(f float32) uint16 {
	b := math.Float32bits(f)
	sign, abs := uint16(b>>16)&0x8000, b&0x7fffffff
	switch {
	case abs > 255<<23:
		return sign | 0x7e00 | uint16(abs>>13)&0x3ff
	case abs >= 0x477fe000: // 65504
		return sign | 0x7bff
	case abs < 113<<23: // subnormal: count steps of 2^-24
		f := math.Float32frombits(abs)
		return sign | uint16(math.RoundToEven(float64(f)*(1<<24)))
	}
	abs += 0xfff + abs>>13&1
	return sign | uint16(abs>>13-112<<10)
}
