package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// extreme draws float32 values of every kind: ordinary ones, tiny, huge, signed
// zeros, infinities and NaN.
func extreme(t *rapid.T, n int, what string) []float32 {
	seed := rapid.Uint64().Draw(t, what+" seed")
	kind := rapid.IntRange(0, 5).Draw(t, what+" kind")
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	x := randomFloats(r, n)
	specials := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 127, 88.5, -80, 1e-40, -1e-38, 1e-31, 3e38, -3e38, 65504, 65520, -70000,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	for i := range x {
		switch kind {
		case 1: // a few specials
			if r.IntN(16) == 0 {
				x[i] = specials[r.IntN(len(specials))]
			}
		case 2: // any bits
			x[i] = math.Float32frombits(r.Uint32())
		case 3: // tiny
			x[i] *= 1e-38
		case 4: // ties and whole numbers
			x[i] = float32(r.IntN(255)-127) / 2
		case 5: // wide
			x[i] *= float32(math.Exp2(float64(r.IntN(60) - 30)))
		}
	}
	return x
}

// eachISA runs f with the references and with each set of vector kernels that the
// machine can run.
func eachISA(f func()) {
	hasAVX2, hasVNNI := accelerated, vnni
	defer func() { accelerated, vnni = hasAVX2, hasVNNI }()
	for _, tier := range []struct{ accelerated, vnni bool }{{false, false}, {true, false}, {true, true}} {
		accelerated, vnni = tier.accelerated, tier.vnni
		if (hasAVX2 || !accelerated) && (hasVNNI || !vnni) {
			f()
		}
	}
}

// both runs f with the references and with each set of vector kernels and compares what
// it returns. On a machine without AVX2 the test would compare the references with
// themselves, so it fails instead.
func both(t interface{ Fatalf(string, ...any) }, what string, f func() []float32) {
	if !accelerated {
		t.Fatalf("this machine has no AVX2 and FMA: the vector kernels cannot be tested")
	}
	var want []float32
	eachISA(func() {
		got := f()
		if want == nil {
			want = got
		}
		sameBits(t, what+" with "+ISA(), got, want)
	})
}

func TestVectorKernelsEqualReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 700).Draw(t, "n")
		x, y, z := extreme(t, n, "x"), extreme(t, n, "y"), extreme(t, n, "z")
		both(t, "RMSNorm", func() []float32 { d := clone(x); RMSNorm(d, d, y, 1e-5); return d })
		both(t, "SwiGLU", func() []float32 { d := clone(x); SwiGLU(d, y, z); return d })
		both(t, "GeGLU", func() []float32 { d := clone(x); GeGLU(d, y, z); return d })
		both(t, "GELU", func() []float32 { d := clone(x); GELU(d); return d })
		both(t, "Add", func() []float32 { d := clone(x); Add(d, y); return d })
		both(t, "Softmax", func() []float32 { d := clone(x); SoftmaxInPlace(d); return d })
		both(t, "LogSumExp, ArgMax", func() []float32 { return []float32{LogSumExp(x), float32(ArgMax(x))} })
		both(t, "half", func() []float32 {
			h, d := make([]uint16, n), make([]float32, 3*n)
			halves(h, x)
			floats(d, h)
			for i, b := range h {
				d[n+i] = float32(b)
				h[i] = uint16(math.Float32bits(y[i]))
			}
			floats(d[2*n:], h)
			return d
		})
		keep, gain := y[0], z[0]
		both(t, "merge", func() []float32 { d := clone(x); merge(d, y, keep, gain); return d })
	})
}

func TestRopeEqualsReference(t *testing.T) {
	tables := map[int]*RopeTable{}
	for _, dim := range []int{2, 8, 16, 64, 80} {
		tables[dim] = NewRope(dim, 10000, 8)
	}
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.SampledFrom([]int{2, 8, 16, 64, 80}).Draw(t, "dim")
		heads := rapid.IntRange(0, 5).Draw(t, "heads")
		pos := rapid.IntRange(0, 3000).Draw(t, "pos")
		x := extreme(t, heads*dim, "x")
		both(t, "rope", func() []float32 { d := clone(x); tables[dim].Apply(d, heads, pos); return d })
	})
}

func TestSoftChunkEqualsReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := extreme(t, PageTokens, "s")
		end := rapid.IntRange(1, PageTokens).Draw(t, "end")
		from := rapid.IntRange(0, end-1).Draw(t, "from")
		scale := extreme(t, 1, "scale")[0]
		both(t, "softChunk", func() []float32 {
			d := clone(s)
			top, sum := softChunk(d, from, end, scale)
			return append(d, top, sum)
		})
	})
}

func TestQuantiseEqualsReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blocks := rapid.IntRange(1, 20).Draw(t, "blocks")
		width := rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "width")
		x := extreme(t, width*blocks*qBlock, "x")
		both(t, "quantise", func() []float32 {
			dst := make([]byte, width*blocks*qColumn)
			for c := range width {
				quantise(dst, width, c, x[c*blocks*qBlock:][:blocks*qBlock])
			}
			return floatsOf(dst)
		})
	})
}

// wildRaw is a matrix of arbitrary bytes: every nibble and scale that a file can hold.
func wildRaw(t *rapid.T, f Format, rows, k int) []byte {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "weights seed"), 0))
	raw := randomRaw(r, f, rows, k)
	switch rapid.IntRange(0, 3).Draw(t, "weights kind") {
	case 0:
		for i := range raw {
			raw[i] = byte(r.Uint32())
		}
	case 1:
		for i := range raw {
			raw[i] = []byte{0xff, 0x80, 0x7f, 0}[r.IntN(4)]
		}
	}
	return raw
}

// TestEveryShapeEqualsReference takes each format through all that decides which kernel
// runs: the number of columns, whole tiles and a last one, one block and several.
func TestEveryShapeEqualsReference(t *testing.T) {
	p := NewPool(1)
	defer p.Close()
	r := rand.New(rand.NewPCG(4, 4))
	const rows = 35
	for _, f := range formats {
		for _, k := range []int{whole(f, 32), whole(f, 288)} {
			w := randomMatrix(t, r, f, rows, k)
			x, old := randomFloats(r, 70*k), randomFloats(r, 70*rows)
			for n := 1; n <= 70; n += 1 + n/26*11 {
				var want []float32
				eachISA(func() {
					var a Acts
					a.Set(p, x, n, k, Int8)
					got := clone(old[:n*rows])
					MatMul(p, got, w, &a)
					MatMulAddScaled(p, got, rows, w, &a, 0.3)
					if want == nil {
						want = got
					}
					sameBits(t, fmt.Sprintf("%v, %d values, %d columns with %s", f, k, n, ISA()), got, want)
				})
			}
		}
	}
}

func TestProductsEqualReference(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(formats).Draw(t, "format")
		mode := rapid.SampledFrom([]Mode{Int8, Float32}).Draw(t, "mode")
		rows := rapid.IntRange(1, 70).Draw(t, "rows")
		k := whole(f, rapid.IntRange(1, 6).Draw(t, "blocks")*qBlock)
		if f.BlockLen() == 1 {
			k = rapid.IntRange(1, 100).Draw(t, "k")
		}
		n := rapid.IntRange(1, 70).Draw(t, "n")
		w, err := Pack(f, rows, k, wildRaw(t, f, rows, k))
		if err != nil {
			t.Fatal(err)
		}
		x, old := extreme(t, n*k, "x"), extreme(t, n*(rows+3), "old")
		both(t, "MatMul", func() []float32 {
			var a Acts
			a.Set(p, x, n, k, mode)
			d := make([]float32, n*rows)
			MatMul(p, d, w, &a)
			return d
		})
		both(t, "MatMulAddScaled", func() []float32 {
			var a Acts
			a.Set(p, x, n, k, mode)
			d := clone(old)
			MatMulAddScaled(p, d, rows+3, w, &a, 0.3)
			return d
		})
	})
}

func TestTilesF16EqualsReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tiles, cols := rapid.IntRange(1, 5).Draw(t, "tiles"), rapid.IntRange(1, 8).Draw(t, "columns")
		k, pad := rapid.IntRange(1, 40).Draw(t, "k"), rapid.IntRange(0, 3).Draw(t, "pad")
		ldw, step := tileRows+pad, k*(tileRows+pad)+5
		ldx, ldd := k+pad, tiles*tileRows+pad
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "weights seed"), 5))
		w := make([]uint16, tiles*step)
		for i := range w {
			w[i] = uint16(r.Uint32())
		}
		x, old := extreme(t, cols*ldx, "x"), extreme(t, cols*ldd, "old")
		scale := rapid.SampledFrom([]*float32{nil, new(float32), &x[0]}).Draw(t, "scale")
		both(t, "tilesF16", func() []float32 {
			d := clone(old)
			tilesF16(d, ldd, w, ldw, step, tiles, x, ldx, k, cols, scale, nil)
			return d
		})
	})
}

func TestAttendEqualsReference(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	rapid.Check(t, func(t *rapid.T) {
		kvHeads := rapid.IntRange(1, 2).Draw(t, "key heads")
		heads := kvHeads * rapid.IntRange(1, 4).Draw(t, "group")
		dim := rapid.SampledFrom([]int{16, 48, 64}).Draw(t, "dim")
		pos0, n := rapid.IntRange(0, 140).Draw(t, "pos"), rapid.IntRange(1, 20).Draw(t, "n")
		window := rapid.IntRange(0, 150).Draw(t, "window")
		q := extreme(t, n*heads*dim, "q")
		k, v := extreme(t, (pos0+n)*kvHeads*dim, "k"), extreme(t, (pos0+n)*kvHeads*dim, "v")
		both(t, "Attend", func() []float32 {
			var pages []*Page
			for pos := range pos0 + n {
				if pos%PageTokens == 0 {
					pages = append(pages, NewPages(1, kvHeads, dim)[0])
				}
				pages[pos/PageTokens].Put(pos%PageTokens, k[pos*kvHeads*dim:], v[pos*kvHeads*dim:], kvHeads, dim)
			}
			d := make([]float32, len(q))
			Attend(p, d, q, heads, kvHeads, dim, 0.125, []AttnSeq{{Pages: pages, Pos0: pos0, N: n, Window: window}})
			return d
		})
	})
}
