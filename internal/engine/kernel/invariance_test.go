package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestRowAloneEqualsRowInBatch: for every format and mode, a row multiplied alone has
// the bits it has inside batches of other sizes, at other places, on other numbers
// of threads.
func TestRowAloneEqualsRowInBatch(t *testing.T) {
	pools := []*Pool{NewPool(1), NewPool(2), NewPool(3)}
	for _, p := range pools {
		defer p.Close()
	}
	r := rand.New(rand.NewPCG(7, 7))
	for _, f := range formats {
		for _, mode := range []Mode{Int8, Float32} {
			const rows, most = 75, 512
			k := whole(f, 96)
			w := randomMatrix(t, r, f, rows, k)
			x := randomFloats(r, most*k)
			var a Acts
			want := make([]float32, most*rows)
			for i := range most {
				a.Set(pools[0], x[i*k:], 1, k, mode)
				MatMul(pools[0], want[i*rows:][:rows], w, &a)
			}
			for _, n := range []int{2, 3, 4, 5, 6, 7, 8, 31, 97, 255, 256, 257, 258, 259, 512} {
				p, lo := pools[n%3], r.IntN(most-n+1)
				got := make([]float32, n*rows)
				a.Set(p, x[lo*k:], n, k, mode)
				MatMul(p, got, w, &a)
				sameBits(t, fmt.Sprintf("%v %v n=%d", f, mode, n), got, want[lo*rows:][:n*rows])
			}
		}
	}
}

// TestManyEqualsEach: one dispatch of several matrices, picked rows and the scaled
// sum agree with the plain product.
func TestManyEqualsEach(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		mode := rapid.SampledFrom([]Mode{Int8, Float32}).Draw(t, "mode")
		k, n := rapid.SampledFrom([]int{32, 96, 256, 512}).Draw(t, "k"), rapid.IntRange(1, 10).Draw(t, "n")
		x := randomFloats(r, n*k)
		var a Acts
		a.Set(p, x, n, k, mode)
		var ws []*Matrix
		var one, many [][]float32
		for range rapid.IntRange(1, 4).Draw(t, "matrices") {
			f, rows := formats[r.IntN(len(formats))], 1+r.IntN(90)
			if k%f.BlockLen() != 0 {
				f = Q5_0
			}
			w, err := Pack(f, rows, k, randomRaw(r, f, rows, k))
			if err != nil {
				t.Fatal(err)
			}
			ws, one, many = append(ws, w), append(one, make([]float32, n*rows)), append(many, make([]float32, n*rows))
			MatMul(p, one[len(one)-1], w, &a)
		}
		MatMulMany(p, many, ws, &a)
		for i, w := range ws {
			sameBits(t, "MatMulMany", many[i], one[i])
			picks := make([]int32, 1+r.IntN(30))
			for j := range picks {
				picks[j] = int32(r.IntN(w.rows))
			}
			got, want := make([]float32, n*len(picks)), make([]float32, n*len(picks))
			MatMulRows(p, got, w, &a, picks)
			for j := range want {
				want[j] = one[i][j/len(picks)*w.rows+int(picks[j%len(picks)])]
			}
			sameBits(t, "MatMulRows", got, want)
			old := randomFloats(r, n*(w.rows+2))
			sum := clone(old)
			MatMulAddScaled(p, sum, w.rows+2, w, &a, 0.7)
			for j, v := range one[i] {
				at := j/w.rows*(w.rows+2) + j%w.rows
				old[at] = fma32(0.7, v, old[at])
			}
			sameBits(t, "MatMulAddScaled", sum, old)
		}
	})
}

// TestSliceEqualsWhole: an adapter's product over some rows of a batch has the bits
// of the product over all.
func TestSliceEqualsWhole(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	r := rand.New(rand.NewPCG(8, 8))
	w := randomMatrix(t, r, F16, 16, 64)
	x := randomFloats(r, 9*64)
	var a Acts
	a.Set(p, x, 9, 64, Int8)
	whole, part := make([]float32, 9*16), make([]float32, 4*16)
	MatMul(p, whole, w, &a)
	some := a.Slice(3, 7)
	MatMul(p, part, w, &some)
	sameBits(t, "Slice", part, whole[3*16:7*16])
}

// TestAttendIsInvariant: one row at a time on one thread is the measure; prompts in
// chunks of any size, several sequences in one call, and pages shared between
// threads give the same bits.
func TestAttendIsInvariant(t *testing.T) {
	const heads, kvHeads, dim = 6, 2, 32
	pools := []*Pool{NewPool(1), NewPool(2), NewPool(3)}
	for _, p := range pools {
		defer p.Close()
	}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		var seqs []AttnSeq
		rows := 0
		for range rapid.IntRange(1, 3).Draw(t, "sequences") {
			pos0, n := rapid.IntRange(0, 300).Draw(t, "pos"), rapid.IntRange(1, 90).Draw(t, "n")
			c := randomCache(r, pos0+n, kvHeads, dim)
			window := rapid.SampledFrom([]int{0, 0, 1, 40, 64, 65, 130, 500}).Draw(t, "window")
			seqs = append(seqs, AttnSeq{Pages: c.pages, Pos0: pos0, N: n, Row0: rows, Window: window})
			rows += n
		}
		q := randomFloats(r, rows*heads*dim)
		want, got := make([]float32, len(q)), make([]float32, len(q))
		for _, s := range seqs {
			for i := range s.N {
				Attend(pools[0], want, q, heads, kvHeads, dim, 0.2, []AttnSeq{{Pages: s.Pages, Pos0: s.Pos0 + i, N: 1, Row0: s.Row0 + i, Window: s.Window}})
			}
		}
		p := pools[rapid.IntRange(0, 2).Draw(t, "pool")]
		Attend(p, got, q, heads, kvHeads, dim, 0.2, seqs)
		sameBits(t, "whole", got, want)
		for _, s := range seqs {
			for at := 0; at < s.N; {
				n := min(s.N-at, rapid.IntRange(1, 40).Draw(t, "chunk"))
				Attend(p, got, q, heads, kvHeads, dim, 0.2, []AttnSeq{{Pages: s.Pages, Pos0: s.Pos0 + at, N: n, Row0: s.Row0 + at, Window: s.Window}})
				at += n
			}
		}
		sameBits(t, "chunked", got, want)
	})
}

// TestAllEqualsEach: products of different inputs, sizes and kinds in one dispatch
// give what each gives alone.
func TestAllEqualsEach(t *testing.T) {
	pools := []*Pool{NewPool(1), NewPool(2), NewPool(3)}
	for _, p := range pools {
		defer p.Close()
	}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		p := pools[rapid.IntRange(0, 2).Draw(t, "pool")]
		var list []Product
		var want [][]float32
		for range rapid.IntRange(0, 6).Draw(t, "products") {
			f, rows, k, n := formats[r.IntN(len(formats))], 1+r.IntN(200), 32*(1+r.IntN(3)), r.IntN(6)
			k = whole(f, k)
			if r.IntN(8) == 0 {
				n = 300
			}
			w, err := Pack(f, rows, k, randomRaw(r, f, rows, k))
			if err != nil {
				t.Fatal(err)
			}
			pr := Product{Dst: randomFloats(r, n*(rows+1)+1), Stride: rows + 1, W: w, Add: r.IntN(2) == 0, Scale: r.Float32()}
			pr.X.Set(p, randomFloats(r, n*k), n, k, Mode(r.IntN(2)))
			alone := clone(pr.Dst)
			if pr.Add {
				MatMulAddScaled(p, alone, rows+1, w, &pr.X, pr.Scale)
			} else {
				plain := make([]float32, n*rows)
				MatMul(p, plain, w, &pr.X)
				for i, v := range plain {
					alone[i/rows*(rows+1)+i%rows] = v
				}
			}
			list, want = append(list, pr), append(want, alone)
		}
		MatMulAll(p, list)
		for i := range list {
			sameBits(t, "MatMulAll", list[i].Dst, want[i])
		}
	})
}

// TestSteadyStateAllocatesNothing: once buffers have grown, a step is free of garbage.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	r := rand.New(rand.NewPCG(10, 10))
	ws := []*Matrix{randomMatrix(t, r, Q4_1, 50, 64), randomMatrix(t, r, Q8_0, 64, 64), randomMatrix(t, r, F16, 16, 64)}
	x, row := randomFloats(r, 5*64), make([]float32, 64)
	dsts := [][]float32{make([]float32, 5*64), make([]float32, 5*64), make([]float32, 5*64)}
	c := randomCache(r, 70, 1, 64)
	seqs := []AttnSeq{{Pages: c.pages, Pos0: 65, N: 5}}
	rope := NewRope(64, 10000, 10)
	picks := []int32{3, 40, 9}
	var a Acts
	step := func() {
		a.Set(p, x, 5, 64, Int8)
		MatMulMany(p, dsts, ws, &a)
		MatMulRows(p, dsts[0], ws[1], &a, picks)
		part := a.Slice(1, 3)
		MatMulAddScaled(p, dsts[1], 64, ws[2], &part, 0.5)
		Attend(p, dsts[0], x, 1, 1, 64, 1, seqs)
		rope.Apply(row, 1, 5)
		RMSNorm(row, x[:64], x[64:128], 1e-5)
		SwiGLU(row, x[:64], row)
		c.pages[1].Put(3, row, row, 1, 64)
		LogSumExp(row)
		ArgMax(row)
	}
	for range 20 { // both workers have met every task
		step()
	}
	if n := testing.AllocsPerRun(100, step); n >= 1 {
		t.Fatalf("a step allocates %g times", n)
	}
}

// TestLowRankEqualsItsParts: adapters on overlapping rows of products of any format, in
// one dispatch, give what the halves give one after the other.
func TestLowRankEqualsItsParts(t *testing.T) {
	pools := []*Pool{NewPool(1), NewPool(2), NewPool(3)}
	for _, p := range pools {
		defer p.Close()
	}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		p := pools[rapid.IntRange(0, 2).Draw(t, "pool")]
		mode := rapid.SampledFrom([]Mode{Int8, Float32}).Draw(t, "mode")
		n, k := rapid.SampledFrom([]int{1, 2, 3, 8, 13, 100, 300}).Draw(t, "n"), rapid.SampledFrom([]int{32, 96, 256}).Draw(t, "k")
		var x Acts
		x.Set(p, randomFloats(r, n*k), n, k, mode)
		pack := func(f Format, rows, k int) *Matrix {
			w, err := Pack(f, rows, k, randomRaw(r, f, rows, k))
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		var list []Product
		var want [][]float32
		for range rapid.IntRange(1, 3).Draw(t, "products") {
			rows := 1 + r.IntN(200)
			pr := Product{Dst: make([]float32, n*(rows+1)), Stride: rows + 1, W: pack(fitting(r, k), rows, k), X: x}
			alone := clone(pr.Dst)
			MatMulAll(p, []Product{{Dst: alone, Stride: rows + 1, W: pr.W, X: x}})
			for range r.IntN(5) {
				f, rank := []Format{F16, BF16, F32}[r.IntN(3)], 1+r.IntN(20)
				l := LowRank{A: pack(f, rank, k), B: pack(f, rows, rank), Lo: r.IntN(n), Scale: r.Float32()}
				l.Hi = l.Lo + r.IntN(n-l.Lo+1)
				l.Mid = make([]float32, (l.Hi-l.Lo)*rank)
				pr.Low = append(pr.Low, l)
				if l.Lo == l.Hi {
					continue
				}
				some, mid := x.Slice(l.Lo, l.Hi), make([]float32, len(l.Mid))
				MatMul(pools[0], mid, l.A, &some)
				var half Acts
				half.Set(p, mid, l.Hi-l.Lo, rank, Float32)
				MatMulAddScaled(pools[0], alone[l.Lo*(rows+1):], rows+1, l.B, &half, l.Scale)
			}
			list, want = append(list, pr), append(want, alone)
		}
		MatMulAll(p, list)
		for i := range list {
			sameBits(t, "LowRank", list[i].Dst, want[i])
		}
	})
}

// fitting is any format whose blocks fit rows of k values.
func fitting(r *rand.Rand, k int) Format {
	for {
		if f := formats[r.IntN(len(formats))]; k%f.BlockLen() == 0 {
			return f
		}
	}
}
