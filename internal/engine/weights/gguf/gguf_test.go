package gguf_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/engine/weights/gguf"
	"macaron/internal/engine/weights/gguf/gguftest"
	"macaron/internal/errs"
)

func sample() *gguftest.Builder {
	w := &gguftest.Builder{}
	w.String("general.architecture", "llama").Uint("llama.block_count", 2).Float("eps", 1e-5).Bool("yes", true)
	w.Strings("tokens", []string{"a", "", "é\xff"}).Ints("types", []int32{1, -3}).Floats("scores", []float32{0.5, -2})
	w.Raw("minus", 5, []byte{0xff, 0xff, 0xff, 0xff}).Raw("big", 10, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	w.Raw("oddbool", 7, []byte{2}).Raw("f64", 12, binary.LittleEndian.AppendUint64(nil, math.Float64bits(0.25)))
	w.F32("w", []uint64{3, 2}, []float32{1, 2, 3, 4, 5, 6})
	w.Tensor("q", gguf.Q4_1, []uint64{64, 2}, make([]byte, 80))
	return w
}

func parse(t *testing.T, w *gguftest.Builder) *gguf.File {
	t.Helper()
	f, err := gguf.Parse(w.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestTensorsOfASampleFile(t *testing.T) {
	for _, version := range []uint32{2, 3} {
		w := sample()
		w.Version = version
		f := parse(t, w)
		q, err := f.Tensor("q")
		if err != nil {
			t.Fatal(err)
		}
		if q.Type != gguf.Q4_1 || q.Size != 80 || len(q.Data()) != 80 || q.Elements() != 128 || q.Rows() != 2 || q.Offset%32 != 0 {
			t.Errorf("tensor q = %+v", q)
		}
		m, err := f.Tensor("w")
		if err != nil {
			t.Fatal(err)
		}
		if got := math.Float32frombits(binary.LittleEndian.Uint32(m.Data()[20:])); got != 6 {
			t.Errorf("last element = %v, want 6", got)
		}
		if _, err := f.Tensor("nope"); errs.CodeOf(err) != errs.FormatInvalid || !strings.Contains(err.Error(), "nope") {
			t.Errorf("missing tensor: %v", err)
		}
	}
}

func TestGettersReadWhatWasWritten(t *testing.T) {
	m := parse(t, sample()).Meta
	check := func(name string, got any, err error, want any) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	s, err := m.String("general.architecture")
	check("String", s, err, "llama")
	u, err := m.Uint("llama.block_count")
	check("Uint", u, err, uint64(2))
	u, err = m.Uint("big")
	check("Uint of 64 bits", u, err, uint64(math.MaxUint64))
	f, err := m.Float("eps")
	check("Float", float32(f), err, float32(1e-5))
	f, err = m.Float("f64")
	check("Float of 64 bits", f, err, 0.25)
	b, err := m.Bool("yes")
	check("Bool", b, err, true)
	ss, err := m.Strings("tokens")
	check("Strings", ss, err, []string{"a", "", "é\xff"})
	is, err := m.Ints("types")
	check("Ints", is, err, []int64{1, -3})
	fs, err := m.Floats("scores")
	check("Floats", fs, err, []float64{0.5, -2})
	s, err = m.StringOr("absent", "x")
	check("StringOr", s, err, "x")
	u, err = m.UintOr("absent", 7)
	check("UintOr", u, err, uint64(7))
	if !m.Has("yes") || m.Has("absent") || len(m.Keys()) != 11 {
		t.Errorf("Has or Keys is wrong: %v", m.Keys())
	}
}

func TestGettersNameTheKeyThatIsWrong(t *testing.T) {
	m := parse(t, sample()).Meta
	calls := map[string]func(string) error{
		"absent":    func(k string) error { _, err := m.String(k); return err },
		"minus":     func(k string) error { _, err := m.Uint(k); return err },
		"tokens":    func(k string) error { _, err := m.String(k); return err },
		"yes":       func(k string) error { _, err := m.UintOr(k, 1); return err },
		"oddbool":   func(k string) error { _, err := m.Bool(k); return err },
		"types":     func(k string) error { _, err := m.Floats(k); return err },
		"scores":    func(k string) error { _, err := m.Ints(k); return err },
		"eps":       func(k string) error { _, err := m.Strings(k); return err },
		"big":       func(k string) error { _, err := m.Float(k); return err },
		"absenttoo": func(k string) error { _, err := m.Strings(k); return err },
	}
	for key, call := range calls {
		err := call(key)
		if errs.CodeOf(err) != errs.FormatInvalid || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestOpenMapsAFileAndSaysWhyItCannot(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.gguf")
	write(t, good, sample().Bytes())
	f, err := gguf.Open(good)
	if err != nil {
		t.Fatal(err)
	}
	w, err := f.Tensor("w")
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Data()) != 24 || f.Size() != len(sample().Bytes()) {
		t.Errorf("data %d bytes, size %d", len(w.Data()), f.Size())
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, err := gguf.Open(filepath.Join(dir, "none")); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("missing file: %v", err)
	}
	if _, err := gguf.Open(dir); errs.CodeOf(err) != errs.StorageFailed {
		t.Errorf("a directory: %v", err)
	}
	for name, content := range map[string]string{"empty": "", "text": "not a model"} {
		path := filepath.Join(dir, name)
		write(t, path, []byte(content))
		if _, err := gguf.Open(path); errs.CodeOf(err) != errs.FormatInvalid || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
