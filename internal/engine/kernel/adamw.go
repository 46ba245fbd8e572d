package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
)

// AdamW is one step of Adam with decoupled weight decay (Loshchilov and Hutter,
// arXiv:1711.05101) for parameters whose t-th step this is, t from 1.
type AdamW struct {
	Rate, Beta1, Beta2, Eps, Decay float64
	T                              int
	Clip                           float32 // gradients are multiplied by it: 1 for none
}

// adamChunk values are one task.
const adamChunk = 1 << 14

// Step updates w, and the moments m and v, from the gradients g, all of one length.
//
// Order, each operation rounded to float32, factors computed in double precision:
//
//	g' = g*clip
//	w  = w * (1 - rate*decay)
//	m  = m + (1-beta1) * (g' - m)
//	v  = v*beta2 + ((1-beta2)*g') * g'
//	w  = w - rate/(1-beta1^t) * m / (sqrt(v)/sqrt(1-beta2^t) + eps)
func (a AdamW) Step(p *Pool, w, m, v, g []float32) {
	if a.T < 1 || len(m) != len(w) || len(v) != len(w) || len(g) != len(w) {
		panic(fmt.Sprintf("kernel: step %d of %d values with moments of %d and %d, gradients of %d", a.T, len(w), len(m), len(v), len(g)))
	}
	f := a.factors()
	p.Run((len(w)+adamChunk-1)/adamChunk, func(_, task int) {
		lo := task * adamChunk
		hi := min(lo+adamChunk, len(w))
		f.stepRef(w[lo:hi], m[lo:hi], v[lo:hi], g[lo:hi])
	})
}

// adamFactors are what all values of a step are multiplied by.
type adamFactors struct{ clip, keep, gain1, beta2, gain2, root, eps, rate float32 }

func (a AdamW) factors() adamFactors {
	t := float64(a.T)
	return adamFactors{
		clip: a.Clip, keep: float32(1 - a.Rate*a.Decay), eps: float32(a.Eps),
		gain1: float32(1 - a.Beta1), beta2: float32(a.Beta2), gain2: float32(1 - a.Beta2),
		root: float32(math.Sqrt(1 - math.Pow(a.Beta2, t))), rate: float32(a.Rate / (1 - math.Pow(a.Beta1, t))),
	}
}

func (f *adamFactors) stepRef(w, m, v, g []float32) {
	for i, x := range w {
		d := float32(g[i] * f.clip)
		m[i] += float32(f.gain1 * (d - m[i]))
		v[i] = float32(v[i]*f.beta2) + float32(float32(f.gain2*d)*d)
		root := float32(math.Sqrt(float64(v[i])))
		w[i] = float32(x*f.keep) - float32(f.rate*m[i])/(root/f.root+f.eps)
	}
}

// SumSquares is the sum of x² in double precision: four sums, of every fourth value,
// added as (0+2) + (1+3). The squares themselves are exact.
func SumSquares(x []float32) float64 {
	var s [4]float64
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d := float64(x[0]), float64(x[1]), float64(x[2]), float64(x[3])
		s[0], s[1], s[2], s[3] = s[0]+a*a, s[1]+b*b, s[2]+c*c, s[3]+d*d
	}
	for i, v := range x {
		s[i] += float64(v) * float64(v)
	}
	return (s[0] + s[2]) + (s[1] + s[3])
}

// AppendRounded appends x as a file of format F32, F16 or BF16 holds it: rounded to
// nearest, ties to even, halves saturating at ±65504.
func AppendRounded(dst []byte, f Format, x []float32) []byte {
	for _, v := range x {
		switch f {
		case F32:
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
		case F16:
			dst = binary.LittleEndian.AppendUint16(dst, toHalf(v))
		case BF16:
			dst = binary.LittleEndian.AppendUint16(dst, toBrain(v))
		default:
			panic(fmt.Sprintf("kernel: rounding to %v", f))
		}
	}
	return dst
}

// toBrain rounds to bfloat16, ties to even; NaN stays NaN.
func toBrain(f float32) uint16 {
	b := math.Float32bits(f)
	if f != f {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}
