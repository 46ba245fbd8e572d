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
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		half := func(at int, v float64) { binary.LittleEndian.PutUint16(b[at:], toHalf(float32(v))) }
		d := 0.005 + 0.01*r.Float64()
		switch f {
		case F32:
			binary.LittleEndian.PutUint32(b, math.Float32bits(float32(r.NormFloat64()*0.05)))
		case F16:
			half(0, r.NormFloat64()*0.05)
		case BF16:
			binary.LittleEndian.PutUint16(b, uint16(math.Float32bits(float32(r.NormFloat64()*0.05))>>16))
		case Q4_1, Q5_1:
			half(0, d)
			half(2, -0.1*r.Float64())
		case Q4_K, Q5_K:
			half(0, d/32)
			half(2, 0.003*r.Float64())
		case Q6_K:
			half(208, d/32)
		default:
			half(0, d)
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
	half := func(at int) float64 { return float64(half16(binary.LittleEndian.Uint16(b[at:]))) }
	i := col % f.BlockLen()
	nibble := func(at int) float64 { return float64(b[at+i%16] >> (i / 16 * 4) & 15) }
	fifth := func(at int) float64 { return float64(16 * (b[at+i/8] >> (i % 8) & 1)) }
	switch f {
	case F32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case F16:
		return half(0)
	case BF16:
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
	case Q4_0:
		return half(0) * (nibble(2) - 8)
	case Q4_1:
		return half(0)*nibble(4) + half(2)
	case Q5_0:
		return half(0) * (nibble(6) + fifth(2) - 16)
	case Q5_1:
		return half(0)*(nibble(8)+fifth(4)) + half(2)
	case Q8_0:
		return half(0) * float64(int8(b[2+i]))
	case Q4_K, Q5_K:
		return rawValueK(f, b, i, half(0), half(2))
	}
	return half(208) * float64(int8(b[192+i/16])) * (rawSixth(b, i) - 32)
}

// rawValueK is value i of a block of Q4_K or Q5_K.
func rawValueK(f Format, b []byte, i int, d, e float64) float64 {
	g, qs := i/32, b[16:]
	var sc, mn byte
	if s := b[4:16]; g < 4 {
		sc, mn = s[g]&63, s[g+4]&63
	} else {
		sc, mn = s[g+4]&15|s[g-4]>>6<<4, s[g+4]>>4|s[g]>>6<<4
	}
	high := byte(0)
	if f == Q5_K {
		high, qs = b[16+i%32]>>g&1, b[48:]
	}
	q := qs[g/2*32+i%32]>>(4*(g&1))&15 | high<<4
	return d*float64(sc)*float64(q) - e*float64(mn)
}

// rawSixth is the six bits of value i of a block of Q6_K.
func rawSixth(b []byte, i int) float64 {
	half, p, l := i/128, i%128/32, i%32
	low := b[64*half+p%2*32+l] >> (p / 2 * 4) & 15
	return float64(low | b[128+32*half+l]>>(2*p)&3<<4)
}

// oracle computes one product in float64, and the sum of magnitudes that bounds its
// rounding error. In Int8 mode the activations are the rounded ones.
func oracle(f Format, raw []byte, k, row int, x []float32, mode Mode) (sum, size float64) {
	for b := 0; b < k; b++ {
		w, v := rawValue(f, raw, k, row, b), float64(x[b])
		if mode == Int8 && f.quantised() {
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
		if layouts[f].offset { // offset and product are summed apart
			size += 2 * 31 * 0.03 * math.Abs(v)
		}
	}
	return sum, size
}

var formats = []Format{F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K}

// whole rounds k up to whole blocks.
func whole(f Format, k int) int { return (k + f.BlockLen() - 1) / f.BlockLen() * f.BlockLen() }

// TestProductAgainstFloat64 bounds the error of every format, mode and edge shape by
// the rounding of a float32 sum.
func TestProductAgainstFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := NewPool(2)
	defer p.Close()
	for _, f := range formats {
		for _, mode := range []Mode{Int8, Float32} {
			for _, shape := range [][3]int{{1, 32, 1}, {16, 64, 2}, {37, 96, 3}, {64, 576, 7}, {5, 1536, 4}} {
				rows, k, n := shape[0], whole(f, shape[1]), shape[2]
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
		const rows = 21
		k := whole(f, 96)
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
