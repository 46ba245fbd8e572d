package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
)

// golden was written by the Python library; see testdata/make_golden.py.
const golden = "testdata/golden.safetensors"

func open(t *testing.T, path string) *safetensors.File {
	t.Helper()
	f, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestFileOfThePythonLibrary(t *testing.T) {
	f := open(t, golden)
	if d := cmp.Diff(map[string]string{"format": "pt", "note": "made by make_golden.py"}, f.Meta); d != "" {
		t.Error(d)
	}
	inf := float32(math.Inf(1))
	rounded := []float32{0, float32(math.Copysign(0, -1)), 1, -2.5, 65504, 5.9604645e-08, inf, 0.33325195}
	brain := []float32{0, float32(math.Copysign(0, -1)), 1, -2.5, 65536, 6.0070306e-08, inf, 0.33398438}
	exact := []float32{0, float32(math.Copysign(0, -1)), 1, -2.5, 65504, 6e-08, inf, 0.33325195}
	floats := map[string]struct {
		dtype safetensors.DType
		shape []uint64
		want  []float32
	}{
		"f64": {safetensors.F64, []uint64{2, 4}, exact}, "f32": {safetensors.F32, []uint64{4, 2}, exact},
		"f16": {safetensors.F16, []uint64{8}, rounded}, "bf16": {safetensors.BF16, []uint64{2, 2, 2}, brain},
		"scalar": {safetensors.F32, []uint64{}, []float32{3.5}}, "empty": {safetensors.F32, []uint64{0, 3}, []float32{}},
		`quoted "name" é`: {safetensors.F32, []uint64{1}, []float32{1.5}},
	}
	for name, c := range floats {
		x, err := f.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := x.Float32()
		if err != nil {
			t.Fatal(err)
		}
		if x.DType != c.dtype || !cmp.Equal(x.Shape, c.shape) || !sameBits(got, c.want) {
			t.Errorf("%s: %s %v %v, want %s %v %v", name, x.DType, x.Shape, got, c.dtype, c.shape, c.want)
		}
	}
	raw := map[string][]byte{
		"i64": {255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 1, 0, 0}, "i32": {249, 255, 255, 255, 7, 0, 0, 0},
		"i8": {128, 127}, "u8": {0, 255}, "bool": {1, 0},
	}
	for name, want := range raw {
		x, err := f.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(x.Data, want) {
			t.Errorf("%s: % x, want % x", name, x.Data, want)
		}
		if _, err := x.Float32(); errs.CodeOf(err) != errs.Unsupported {
			t.Errorf("%s as floats: %v", name, err)
		}
	}
	if len(f.Tensors) != len(floats)+len(raw) {
		t.Errorf("%d tensors", len(f.Tensors))
	}
	if _, err := f.Tensor("absent"); errs.CodeOf(err) != errs.FormatInvalid {
		t.Errorf("absent tensor: %v", err)
	}
}

func sameBits(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}

func TestWrittenAgainThePythonFileKeepsItsContent(t *testing.T) {
	f := open(t, golden)
	var again bytes.Buffer
	if err := safetensors.Encode(&again, f.Tensors, f.Meta); err != nil {
		t.Fatal(err)
	}
	g, err := safetensors.Parse(again.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(f.Meta, g.Meta); d != "" {
		t.Error(d)
	}
	for _, want := range f.Tensors {
		got, err := g.Tensor(want.Name)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, *got); d != "" {
			t.Errorf("%s: %s", want.Name, d)
		}
	}
}

func TestWriteReplacesWholeFilesOnly(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.safetensors")
	for _, values := range [][]float32{{1, 2}, {3, 4}} {
		x := safetensors.FromFloat32("x", []uint64{2}, values)
		if err := safetensors.Write(path, []safetensors.Tensor{x}, nil); err != nil {
			t.Fatal(err)
		}
		y, err := open(t, path).Tensor("x")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := y.Float32(); err != nil || !cmp.Equal(got, values) {
			t.Errorf("%v, %v", got, err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
	err = safetensors.Write(filepath.Join(dir, "none", "b"), nil, nil)
	if errs.CodeOf(err) != errs.StorageFailed {
		t.Errorf("a missing directory: %v", err)
	}
}

func TestWriteRefusesWhatItCouldNotRead(t *testing.T) {
	ok := safetensors.FromFloat32("x", []uint64{2}, []float32{1, 2})
	wrong := map[string][]safetensors.Tensor{
		"twice":        {ok, ok},
		"reserved":     {safetensors.FromFloat32("__metadata__", []uint64{1}, []float32{1})},
		"not UTF-8":    {safetensors.FromFloat32("\xff", []uint64{1}, []float32{1})},
		"short":        {{Name: "y", DType: safetensors.F32, Shape: []uint64{3}, Data: make([]byte, 8)}},
		"wraps":        {{Name: "y", DType: safetensors.F32, Shape: []uint64{1 << 62}, Data: nil}},
		"unknown type": {{Name: "y", DType: "F7", Shape: []uint64{1}, Data: make([]byte, 4)}},
	}
	for name, tensors := range wrong {
		if err := safetensors.Encode(&bytes.Buffer{}, tensors, nil); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWriteThenReadIsTheSameInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zé"\\.0-9]{1,12}`), 0, 8, rapid.ID[string]).Draw(t, "names")
		var tensors []safetensors.Tensor
		for _, n := range names {
			d := rapid.SampledFrom([]safetensors.DType{"F64", "F32", "F16", "BF16", "I8", "BOOL"}).Draw(t, "dtype")
			shape := rapid.SliceOfN(rapid.Uint64Range(0, 4), 0, 4).Draw(t, "shape")
			size := uint64(d.Size())
			for _, s := range shape {
				size *= s
			}
			tensors = append(tensors, safetensors.Tensor{Name: n, DType: d, Shape: shape, Data: rapid.SliceOfN(rapid.Byte(), int(size), int(size)).Draw(t, "data")})
		}
		var a, b bytes.Buffer
		if err := safetensors.Encode(&a, tensors, map[string]string{"k": "v", "a": "b"}); err != nil {
			t.Fatal(err)
		}
		if err := safetensors.Encode(&b, rapid.Permutation(tensors).Draw(t, "order"), map[string]string{"a": "b", "k": "v"}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Fatal("the order of the tensors changes the bytes")
		}
		if n := binary.LittleEndian.Uint64(a.Bytes()); n%8 != 0 {
			t.Fatalf("the header of %d bytes leaves the data unaligned", n)
		}
		f, err := safetensors.Parse(a.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range tensors {
			got, err := f.Tensor(want.Name)
			if err != nil {
				t.Fatal(err)
			}
			if got.DType != want.DType || !bytes.Equal(got.Data, want.Data) || len(got.Shape) != len(want.Shape) {
				t.Fatalf("%+v comes back as %+v", want, got)
			}
		}
	})
}

func TestHalfCoversEveryNumber(t *testing.T) {
	for h := range 1 << 16 {
		sign, exp, frac := h>>15, h>>10&0x1f, h&0x3ff
		want := math.Ldexp(float64(0x400+frac), exp-25)
		switch exp {
		case 0:
			want = math.Ldexp(float64(frac), -24)
		case 0x1f:
			want = math.Inf(1)
			if frac != 0 {
				want = math.NaN()
			}
		}
		if sign == 1 {
			want = -want
		}
		got := float64(safetensors.Half(uint16(h)))
		if math.IsNaN(want) != math.IsNaN(got) || !math.IsNaN(want) && (got != want || math.Signbit(got) != (sign == 1)) {
			t.Fatalf("Half(%#x) = %v, want %v", h, got, want)
		}
	}
}
