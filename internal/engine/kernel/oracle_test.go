package kernel

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// randomRaw makes a row-major matrix of a format, with scales near 1/100.
func randomRaw(r *rand.Rand, f Format, rows, k int) []byte {
	raw := make([]byte, rows*f.RowBytes(k))
	size := f.BlockBytes()
	for at := 0; at < len(raw); at += size {
		b := raw[at : at+size]
		switch f {
		case F32:
			binary.LittleEndian.PutUint32(b, math.Float32bits(float32(r.NormFloat64()*0.05)))
		case F16:
			binary.LittleEndian.PutUint16(b, toHalf(float32(r.NormFloat64()*0.05)))
		default:
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			binary.LittleEndian.PutUint16(b, toHalf(float32(0.005+0.01*r.Float64())))
			if f == Q4_1 {
				binary.LittleEndian.PutUint16(b[2:], toHalf(float32(-0.1*r.Float64())))
			}
		}
	}
	return raw
}

func randomMatrix(t testing.TB, r *rand.Rand, f Format, rows, k int) *Matrix {
	t.Helper()
	m, err := Pack(f, rows, k, randomRaw(r, f, rows, k))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func randomFloats(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
		if r.IntN(64) == 0 {
			x[i] *= 20
		}
	}
	return x
}

// rawValue dequantises one value straight from the file's bytes in float64.
func rawValue(f Format, raw []byte, k, row, col int) float64 {
	b := raw[row*f.RowBytes(k)+col/f.BlockLen()*f.BlockBytes():]
	half := func(b []byte) float64 { return float64(half16(binary.LittleEndian.Uint16(b))) }
	i := col % f.BlockLen()
	switch f {
	case F32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case F16:
		return half(b)
	case Q4_1:
		q := b[4+i%16] >> (i / 16 * 4) & 15
		return half(b)*float64(q) + half(b[2:])
	}
	return half(b) * float64(int8(b[2+i]))
}

// oracle computes one product in float64, and the sum of magnitudes that bounds its
// rounding error. In Int8 mode the activations are the rounded ones.
func oracle(f Format, raw []byte, k, row int, x []float32, mode Mode) (sum, size float64) {
	for b := 0; b < k; b++ {
		w, v := rawValue(f, raw, k, row, b), float64(x[b])
		if mode == Int8 && f.BlockLen() == qBlock {
			amax := float32(0)
			for _, u := range x[b/qBlock*qBlock:][:qBlock] {
				amax = max(amax, float32(math.Abs(float64(u))))
			}
			v = 0
			if amax > 0 {
				v = math.RoundToEven(float64(x[b]*(127/amax))) * float64(amax/127)
			}
		}
		sum += w * v
		size += math.Abs(w * v)
		if f == Q4_1 { // offset and product are summed apart
			size += 2 * 15 * 0.016 * math.Abs(v)
		}
	}
	return sum, size
}

var formats = []Format{F32, F16, Q4_1, Q8_0}

// TestProductAgainstFloat64 bounds the error of every format, mode and edge shape by
// the rounding of a float32 sum.
func TestProductAgainstFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := NewPool(2)
	defer p.Close()
	for _, f := range formats {
		for _, mode := range []Mode{Int8, Float32} {
			for _, shape := range [][3]int{{1, 32, 1}, {16, 64, 2}, {37, 96, 3}, {64, 576, 7}, {5, 1536, 4}} {
				rows, k, n := shape[0], shape[1], shape[2]
				raw := randomRaw(r, f, rows, k)
				w, err := Pack(f, rows, k, raw)
				if err != nil {
					t.Fatal(err)
				}
				x, got := randomFloats(r, n*k), make([]float32, n*rows)
				var acts Acts
				acts.Set(p, x, n, k, mode)
				MatMul(p, got, w, &acts)
				for i, v := range got {
					want, size := oracle(f, raw, k, i%rows, x[i/rows*k:][:k], mode)
					if bound := size*float64(k)*0x1p-24 + 1e-30; !(math.Abs(float64(v)-want) <= bound) {
						t.Fatalf("%v %v [%d,%d] column %d row %d: %g, want %g ± %g", f, mode, rows, k, i/rows, i%rows, v, want, bound)
					}
				}
			}
		}
	}
}

// TestRow checks dequantised rows against the file's bytes.
func TestRow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, f := range formats {
		const rows, k = 21, 96
		raw := randomRaw(r, f, rows, k)
		w, err := Pack(f, rows, k, raw)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float32, k)
		for row := range rows {
			w.Row(row, got)
			for i, v := range got {
				if want := float32(rawValue(f, raw, k, row, i)); v != want {
					t.Fatalf("%v row %d column %d: %g, want %g", f, row, i, v, want)
				}
			}
		}
	}
}

// sameBits compares results bit by bit; any NaN equals any NaN.
func sameBits(t interface{ Fatalf(string, ...any) }, what string, got, want []float32) {
	if h, ok := t.(interface{ Helper() }); ok {
		h.Helper()
	}
	for i := range want {
		if g, w := got[i], want[i]; math.Float32bits(g) != math.Float32bits(w) && !(g != g && w != w) {
			t.Fatalf("%s: value %d is %g (%08x), want %g (%08x)", what, i, g, math.Float32bits(g), w, math.Float32bits(w))
		}
	}
}

func clone(x []float32) []float32 { return append([]float32(nil), x...) }
