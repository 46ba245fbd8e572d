package kernel

import "math"

// fma32 is a*b+c with one rounding to float32, as the hardware instruction gives
// it. The product of two float32 is exact in float64, so the sum there is off by half
// a unit at most; rounding it again to float32 goes wrong only if the sum looks like a
// tie between two float32, or if float32 has fewer bits than usual (subnormals).
func fma32(a, b, c float32) float32 {
	s := float64(a)*float64(b) + float64(c)
	bits := math.Float64bits(s)
	const tie, below = 1 << 28, 1<<29 - 1
	if bits&below != tie && bits<<1 >= (1023-126)<<53 {
		return float32(s)
	}
	return oddFMA(float64(a)*float64(b), float64(c), s)
}

// oddFMA rounds p+q, of which s is the float64 sum, to odd in float64: that makes the
// second rounding, to float32, harmless.
func oddFMA(p, q, s float64) float32 {
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

// half16 converts IEEE half precision to float32, exactly: exponent and fraction move
// into place, and a power of two makes up for the other bias, subnormals included.
func half16(h uint16) float32 {
	sign, abs := uint32(h>>15)<<31, uint32(h&0x7fff)
	if abs >= 0x7c00 { // infinity, or a NaN made quiet
		if abs > 0x7c00 {
			abs |= 0x200
		}
		return math.Float32frombits(sign | 255<<23 | abs&0x3ff<<13)
	}
	f := math.Float32frombits(abs<<13) * 0x1p112
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
