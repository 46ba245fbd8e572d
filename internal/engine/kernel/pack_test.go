package kernel

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"macaron/internal/errs"
)

func TestPackRefusesWrongSizes(t *testing.T) {
	for _, c := range []struct {
		f       Format
		rows, k int
		bytes   int
		code    errs.Code
	}{
		{Format(200), 1, 32, 20, errs.Unsupported},
		{Q4_1, 0, 32, 0, errs.FormatInvalid},
		{Q4_1, 1, 0, 0, errs.FormatInvalid},
		{Q4_1, -1, 32, 20, errs.FormatInvalid},
		{Q4_1, 1, 33, 20, errs.FormatInvalid},
		{Q4_1, 1, 32, 19, errs.FormatInvalid},
		{Q8_0, 2, 32, 69, errs.FormatInvalid},
		{F16, 3, 3, 17, errs.FormatInvalid},
		{Q4_K, 1, 128, 72, errs.FormatInvalid},
		{Q6_K, 2, 256, 419, errs.FormatInvalid},
		{Q5_K, math.MaxInt / 2816, 512, 352, errs.FormatInvalid},
		{F32, math.MaxInt / 2, 1 << 20, 4, errs.FormatInvalid},
	} {
		if _, err := Pack(c.f, c.rows, c.k, make([]byte, c.bytes)); errs.CodeOf(err) != c.code {
			t.Errorf("%v [%d,%d] from %d bytes: %v, want %s", c.f, c.rows, c.k, c.bytes, err, c.code)
		}
	}
}

// FuzzPack: any bytes either pack and give back every row, or fail with a code.
func FuzzPack(f *testing.F) {
	f.Add(uint8(Q4_1), 3, 64, bytes.Repeat([]byte{1, 0x30}, 60))
	f.Add(uint8(Q8_0), 1, 32, make([]byte, 34))
	f.Add(uint8(F16), 17, 1, make([]byte, 34))
	for _, format := range formats {
		f.Add(uint8(format), 3, format.BlockLen(), bytes.Repeat([]byte{1, 0x30, 0xa5}, format.BlockBytes()))
	}
	f.Add(uint8(99), 1, 1, []byte{1})
	f.Fuzz(func(t *testing.T, format uint8, rows, k int, raw []byte) {
		m, err := Pack(Format(format), rows, k, raw)
		if err != nil {
			if errs.CodeOf(err) == errs.Internal {
				t.Fatal(err)
			}
			return
		}
		row := make([]float32, k)
		for i := range rows {
			m.Row(i, row)
			for c, v := range row {
				want := float32(rawValue(m.format, raw, k, i, c))
				if v != want && (v == v || want == want) && math.Abs(float64(v-want)) > 1e-7*math.Abs(float64(want)) {
					t.Fatalf("%v row %d column %d: %g, want %g", m.format, i, c, v, want)
				}
			}
		}
	})
}

func TestHalfRoundTrip(t *testing.T) {
	for h := range 1 << 16 {
		f := half16(uint16(h))
		if h&0x7fff == 0x7c00 { // infinity saturates
			continue
		}
		if back := toHalf(f); back != uint16(h) && !(f != f && back == uint16(h)|0x200) {
			t.Fatalf("%04x is %g and comes back as %04x", h, f, back)
		}
	}
}

// TestFMA32 compares with exact arithmetic where float64 is exact, and with the
// correctly rounded sum in a case where rounding twice goes wrong.
func TestFMA32(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 20000 {
		a, b, c := float32(r.IntN(1<<12)), float32(r.IntN(1<<12)), float32(r.IntN(1<<24))
		if got, want := fma32(a, b, c), float32(float64(a)*float64(b)+float64(c)); got != want {
			t.Fatalf("fma(%g, %g, %g) = %g, want %g", a, b, c, got, want)
		}
	}
	// 1 + 2^-24 lies between two float32; 2^-60 more decides, and float64 loses it.
	a, b := float32(1+0x1p-12), float32(0x1p-24)
	if got, want := fma32(0x1p-30, 0x1p-30, float32(1)), float32(1); got != want {
		t.Fatalf("got %g", got)
	}
	if got, want := fma32(a, b, 1), float32(1+0x1p-23); got != want {
		t.Fatalf("fma above the tie is %b, want %b", got, want)
	}
}

func TestMisuse(t *testing.T) {
	p := NewPool(1)
	defer p.Close()
	r := rand.New(rand.NewPCG(1, 1))
	w := randomMatrix(t, r, Q4_1, 16, 64)
	var a Acts
	x := make([]float32, 64)
	a.Set(p, x, 1, 64, Int8)
	sliced := a.Slice(0, 1)
	mustPanic(t, "short activations", func() { var b Acts; b.Set(p, x, 2, 64, Int8) })
	mustPanic(t, "short result", func() { MatMul(p, x[:15], w, &a) })
	mustPanic(t, "row out of range", func() { MatMulRows(p, x, w, &a, []int32{16}) })
	mustPanic(t, "slice of int8 panels", func() { MatMul(p, x, w, &sliced) })
	mustPanic(t, "row of another size", func() { w.Row(16, x) })
	mustPanic(t, "counts", func() { MatMulMany(p, nil, []*Matrix{w}, &a) })
	mustPanic(t, "heads", func() { Attend(p, x, x, 3, 2, 16, 1, nil) })
	mustPanic(t, "pages", func() { Attend(p, x, x, 1, 1, 16, 1, []AttnSeq{{N: 1}}) })
	mustPanic(t, "slot", func() { NewPages(1, 1, 16)[0].Put(PageTokens, x, x, 1, 16) })
	mustPanic(t, "lengths", func() { Add(x, x[1:]) })
	MatMul(p, x, w, &a) // a panic leaves the pool usable
}
