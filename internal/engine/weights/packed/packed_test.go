package packed_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/weights/packed"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

const (
	base  = ids.Digest("sha256:00")
	order = "as they come"
)

// matrices are one of each format that needs no scales, and an uneven shape.
func matrices(t testing.TB) map[string]*kernel.Matrix {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	out := map[string]*kernel.Matrix{}
	for name, shape := range map[string]struct {
		f       kernel.Format
		rows, k int
	}{"a": {kernel.F32, 5, 3}, "b": {kernel.F16, 33, 32}, "c": {kernel.Q8_0, 48, 64}, "d": {kernel.Q4_1, 17, 96}} {
		raw := make([]byte, shape.rows*shape.f.RowBytes(shape.k))
		for i := range raw {
			raw[i] = byte(random.Uint32() & 0x3b) // no Inf or NaN in any scale
		}
		m, err := kernel.Pack(shape.f, shape.rows, shape.k, raw)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = m
	}
	return out
}

func written(t testing.TB) (path string, want map[string]*kernel.Matrix) {
	t.Helper()
	path, want = filepath.Join(t.TempDir(), "deep", "base.packed"), matrices(t)
	if err := packed.Write(path, base, order, want); err != nil {
		t.Fatal(err)
	}
	return path, want
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	path, want := written(t)
	f, err := packed.Open(path, base, order)
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	for name, m := range want {
		got := f.Matrix(name)
		if got == nil || got.Rows() != m.Rows() || got.K() != m.K() || got.Format() != m.Format() {
			t.Fatalf("%s: %v", name, got)
		}
		a, b := make([]float32, m.K()), make([]float32, m.K())
		for r := range m.Rows() {
			m.Row(r, a)
			got.Row(r, b)
			for i := range a {
				if a[i] != b[i] {
					t.Fatalf("%s [%d %d]: %v, was %v", name, r, i, b[i], a[i])
				}
			}
		}
	}
	if f.Matrix("e") != nil {
		t.Error("there is a matrix that nobody wrote")
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("scratch was left behind: %v %v", left, err)
	}
}

func TestOthersFilesAreNotUsed(t *testing.T) {
	path, _ := written(t)
	if f, err := packed.Open(path, "sha256:01", order); f != nil || err != nil {
		t.Errorf("another base: %v %v", f, err)
	}
	if f, err := packed.Open(path, base, "another order"); f != nil || err != nil {
		t.Errorf("another arrangement: %v %v", f, err)
	}
	if f, err := packed.Open(path+".none", base, order); f != nil || err != nil {
		t.Errorf("no file: %v %v", f, err)
	}
}

// Every single damaged byte is noticed, except in the gaps between matrices.
func TestDamageIsNoticed(t *testing.T) {
	path, _ := written(t)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := len("MACARON PACKED 1") + 8 + int(binary.LittleEndian.Uint32(raw[16:]))
	gap := func(at int) bool {
		return at >= n && raw[at] == 0
	}
	for at := 0; at < len(raw); at += 1 + at/64 {
		if gap(at) {
			continue
		}
		raw[at] ^= 0x10
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if f, err := packed.Open(path, base, order); f != nil || errs.CodeOf(err) != errs.FormatInvalid {
			t.Fatalf("byte %d of %d changed: %v, %v", at, len(raw), f, err)
		}
		raw[at] ^= 0x10
	}
	for _, n := range []int{0, 3, 20, 4000, len(raw) - 1} {
		if err := os.WriteFile(path, raw[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if f, err := packed.Open(path, base, order); f != nil || errs.CodeOf(err) != errs.FormatInvalid {
			t.Fatalf("%d bytes of the file: %v, %v", n, f, err)
		}
	}
}

// FuzzOpen: any file gives matrices, nothing, or a coded error.
func FuzzOpen(f *testing.F) {
	path, _ := written(f)
	raw, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(raw[:100])
	f.Add([]byte("MACARON PACKED 1\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	path = filepath.Join(f.TempDir(), "fuzzed")
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := packed.Open(path, base, order); err != nil && errs.CodeOf(err) != errs.FormatInvalid {
			t.Fatal(err)
		}
	})
}
