package kernel

import "math"

// RMSNormBack gives the gradient of RMSNorm with respect to x from the one of its result,
// dy: with inv = 1/sqrt(mean(x²)+eps), dst = inv*w*dy - x * inv³/n * sum(w*dy*x). dst may
// be dy.
func RMSNormBack(dst, dy, x, w []float32, eps float32) {
	sameLen("RMSNormBack", len(dst), len(dy), len(x))
	sameLen("RMSNormBack", len(x), len(w), len(w))
	if len(x) > 0 {
		rmsNormBack(dst, dy, x, w, eps)
	}
}

// SwiGLUBack gives the gradients of SwiGLU with respect to gate and up from the one of
// its result, dy. Each may take the place of any argument at the same index.
func SwiGLUBack(dGate, dUp, dy, gate, up []float32) {
	sameLen("SwiGLUBack", len(dGate), len(dUp), len(dy))
	sameLen("SwiGLUBack", len(dy), len(gate), len(up))
	swigluBack(dGate, dUp, dy, gate, up)
}

// GeGLUBack is SwiGLUBack for GeGLU.
func GeGLUBack(dGate, dUp, dy, gate, up []float32) {
	sameLen("GeGLUBack", len(dGate), len(dUp), len(dy))
	sameLen("GeGLUBack", len(dy), len(gate), len(up))
	gegluBack(dGate, dUp, dy, gate, up)
}

// LogProbBack replaces a row of logits by the gradient of sum over k of g[k] * log
// probability of targets[k]: x[i] = -(G*exp(x[i]-norm)), G the sum of g, then x[t] += g
// for each target t. norm is LogSumExp of the row. A target below 0 counts for nothing.
func LogProbBack(x []float32, norm float32, targets []int32, g []float32) {
	total := float32(0)
	for i, t := range targets {
		if t >= 0 {
			total += g[i]
		}
	}
	expShifted(x, norm, true)
	scaleBy(x, -total)
	for i, t := range targets {
		if t >= 0 {
			x[t] += g[i]
		}
	}
}

// rmsNormBackRef sums in eight lanes.
func rmsNormBackRef(dst, dy, x, w []float32, eps float32) {
	var squares, dots [8]float32
	for i, v := range x {
		squares[i&7] = fma32(v, v, squares[i&7])
		dots[i&7] = fma32(float32(dy[i]*w[i]), v, dots[i&7])
	}
	n := float32(len(x))
	mean := fold8(&squares) / n
	inv := 1 / float32(math.Sqrt(float64(mean+eps)))
	back := -float32(float32(fold8(&dots)/n) * float32(inv*float32(inv*inv)))
	for i, v := range x {
		dst[i] = fma32(back, v, float32(float32(dy[i]*w[i])*inv))
	}
}

// swigluBackRef: with s = 1/(1+exp(-g)), the derivative of g*s is s + g*s*(1-s).
func swigluBackRef(dGate, dUp, dy, gate, up []float32) {
	for i, g := range gate {
		e := 1 + exp32(-g)
		s, act := 1/e, float32(g/e)
		slope := fma32(act, 1-s, s)
		d := dy[i]
		dGate[i], dUp[i] = float32(float32(d*up[i])*slope), float32(d*act)
	}
}

// gegluBackRef: with s = 1/(1+exp(-u)), u = g*(a + b*g²), the derivative of g*s is
// s + g*s*(1-s)*(a + 3b*g²).
func gegluBackRef(dGate, dUp, dy, gate, up []float32) {
	for i, g := range gate {
		square := float32(g * g)
		e := 1 + exp32(-float32(g*fma32(square, geluCubic, geluLinear)))
		s, act := 1/e, float32(g/e)
		slope := fma32(float32(act*(1-s)), fma32(square, 3*geluCubic, geluLinear), s)
		d := dy[i]
		dGate[i], dUp[i] = float32(float32(d*up[i])*slope), float32(d*act)
	}
}
