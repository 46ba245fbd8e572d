package gguf_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"macaron/internal/engine/weights/gguf"
	"macaron/internal/engine/weights/gguf/gguftest"
	"macaron/internal/errs"
)

// hostile files, each with a word of the message that must refuse it. Their
// shapes are those of published flaws in other readers: counts and lengths near
// 2^63 (CVE-2024-21802), dimension products that wrap (CVE-2025-53630), data that
// end past the file (CVE-2026-7482).
func hostile() map[string]struct {
	file []byte
	says string
} {
	le := binary.LittleEndian
	type c = struct {
		file []byte
		says string
	}
	b := func() *gguftest.Builder { return &gguftest.Builder{} }
	array := func(kind uint32, n uint64) []byte { return le.AppendUint64(le.AppendUint32(nil, kind), n) }
	lone := func(dims ...uint64) []byte { return b().Tensor("w", gguf.F32, dims, make([]byte, 64)).Bytes() }
	at := func(off uint64) []byte {
		return append(b().Entry("w", gguf.F32, []uint64{4}, off).Bytes(), make([]byte, 64)...)
	}
	align := func(a uint32) []byte { return b().Uint("general.alignment", a).Bytes() }
	return map[string]c{
		"no magic":              {[]byte("GGML\x03\x00\x00\x00"), "start"},
		"cut header":            {[]byte("GGUF\x03\x00"), "left"},
		"version 1":             {(&gguftest.Builder{Version: 1}).Bytes(), "version 1"},
		"big endian":            {(&gguftest.Builder{Version: 3 << 24}).Bytes(), "big-endian"},
		"2^63 tensors":          {(&gguftest.Builder{Tensors: 1 << 63}).Bytes(), "tensors"},
		"2^63 keys":             {(&gguftest.Builder{Keys: 1 << 63}).Bytes(), "metadata entries"},
		"more keys than bytes":  {(&gguftest.Builder{Keys: 1000}).Bytes(), "metadata entries"},
		"key of 2^63 bytes":     {append((&gguftest.Builder{Keys: 1}).Bytes()[:24], append(le.AppendUint64(nil, 1<<63), make([]byte, 64)...)...), "bytes long"},
		"empty key":             {b().Uint("", 1).Bytes(), "empty"},
		"duplicate key":         {b().Uint("k", 1).Uint("k", 2).Bytes(), "twice"},
		"string of 2^64-1":      {b().Raw("k", 8, le.AppendUint64(nil, math.MaxUint64)).Bytes(), "needs"},
		"unknown value type":    {b().Raw("k", 13, nil).Bytes(), "unknown type"},
		"nested array":          {b().Raw("k", 9, array(9, 1)).Bytes(), "array of arrays"},
		"array of 2^62 ints":    {b().Raw("k", 9, array(5, 1<<62)).Bytes(), "elements"},
		"array of 2^61 strings": {b().Raw("k", 9, array(8, 1<<61)).Bytes(), "strings"},
		"array cut short":       {b().Raw("k", 9, array(5, 100)).Bytes(), "needs"},
		"zero alignment":        {align(0), "power of two"},
		"odd alignment":         {align(24), "power of two"},
		"huge alignment":        {align(1 << 31), "power of two"},
		"alignment of text":     {b().String("general.alignment", "32").Bytes(), "general.alignment"},
		"no dimensions":         {lone(), "dimensions"},
		"five dimensions":       {lone(1, 1, 1, 1, 1), "dimensions"},
		"a dimension of 0":      {lone(4, 0), "is 0"},
		"dims wrap to 0":        {lone(1<<32, 1<<32), "overflow"},
		"dims wrap to 16":       {lone(4, 1<<62+4), "overflow"},
		"row bytes wrap":        {lone(1<<62 + 4), "too many"},
		"2^63 elements":         {lone(1 << 63), "too many"},
		"part of a block":       {b().Tensor("w", gguf.Q4_1, []uint64{33}, make([]byte, 64)).Bytes(), "multiple of 32"},
		"unknown tensor type":   {b().Tensor("w", gguf.Type(5), []uint64{4}, make([]byte, 64)).Bytes(), "unknown type 5"},
		"duplicate tensor":      {b().Tensor("w", gguf.F32, []uint64{1}, make([]byte, 4)).Tensor("w", gguf.F32, []uint64{1}, make([]byte, 4)).Bytes(), "two tensors"},
		"long tensor name":      {b().Tensor(strings.Repeat("n", 65), gguf.F32, []uint64{1}, make([]byte, 4)).Bytes(), "bytes long"},
		"empty tensor name":     {b().Tensor("", gguf.F32, []uint64{1}, make([]byte, 4)).Bytes(), "empty"},
		"offset past the end":   {at(1 << 20), "beyond the end"},
		"offset at the end":     {at(64), "beyond the end"},
		"offset near 2^64":      {at(math.MaxUint64 &^ 31), "beyond the end"},
		"odd offset":            {at(8), "multiple of 32"},
		"data cut short":        {b().Tensor("w", gguf.F32, []uint64{100}, make([]byte, 396)).Bytes(), "beyond the end"},
		"overlap":               {b().F32("a", []uint64{16}, make([]float32, 16)).Entry("b", gguf.F32, []uint64{1}, 32).Bytes(), "overlap"},
	}
}

func TestHostileFilesAreRefusedWithAReason(t *testing.T) {
	for name, c := range hostile() {
		_, err := gguf.Parse(c.file)
		if errs.CodeOf(err) != errs.FormatInvalid || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: want a refusal that says %q, got %v", name, c.says, err)
		}
	}
}

// Every prefix of a good file is refused: no field may be read that is not there.
func TestEveryPrefixIsRefused(t *testing.T) {
	whole := sample().Bytes()
	for n := range whole {
		if _, err := gguf.Parse(whole[:n]); errs.CodeOf(err) != errs.FormatInvalid {
			t.Fatalf("a prefix of %d of %d bytes: %v", n, len(whole), err)
		}
	}
}

func TestMemoryIsBoundedByTheFile(t *testing.T) {
	files := map[string][]byte{}
	for name, c := range hostile() {
		files[name] = c.file
	}
	w := &gguftest.Builder{}
	for i := range gguf.MaxTensors {
		w.Entry(fmt.Sprintf("%05x", i), gguf.F32, []uint64{1}, uint64(32*i))
	}
	files["most tensors"] = append(w.Bytes(), make([]byte, 32*gguf.MaxTensors)...)
	w = &gguftest.Builder{}
	for i := range gguf.MaxKeys {
		w.Raw(fmt.Sprintf("%05x", i), 0, []byte{1})
	}
	files["most keys"] = w.Bytes()
	files["empty strings"] = (&gguftest.Builder{}).Strings("s", make([]string, 1<<20)).Bytes()
	files["bytes"] = (&gguftest.Builder{}).Raw("s", 9, append([]byte{0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0}, make([]byte, 1<<22)...)).Bytes()
	for name, file := range files {
		limit := uint64(2*len(file) + 64<<20)
		if got := allocated(func() { readAll(file) }); got > limit {
			t.Errorf("%s: %d bytes allocated for a file of %d", name, got, len(file))
		}
	}
}

// allocated is the sum of all allocations of do, an upper bound of its peak.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// readAll parses a file and asks for everything in it.
func readAll(file []byte) (*gguf.File, error) {
	f, err := gguf.Parse(file)
	if err != nil {
		return nil, err
	}
	for _, k := range f.Meta.Keys() {
		if _, err := f.Meta.Strings(k); err == nil {
			continue
		}
		if _, err := f.Meta.Ints(k); err == nil {
			continue
		}
		if _, err := f.Meta.Floats(k); err == nil {
			continue
		}
		_, _ = f.Meta.String(k)
		_, _ = f.Meta.Uint(k)
		_, _ = f.Meta.Float(k)
		_, _ = f.Meta.Bool(k)
	}
	return f, nil
}

func FuzzOpen(f *testing.F) {
	f.Add(sample().Bytes())
	for _, c := range hostile() {
		f.Add(c.file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := readAll(file)
		if err != nil {
			if errs.CodeOf(err) != errs.FormatInvalid {
				t.Fatalf("not a format error: %v", err)
			}
			return
		}
		for _, x := range m.Tensors {
			if uint64(len(x.Data())) != x.Size || x.Offset%m.Alignment != 0 {
				t.Fatalf("tensor %+v with %d bytes", x, len(x.Data()))
			}
			if x.Size > 0 && !bytes.Equal(x.Data(), file[x.Offset:x.Offset+x.Size]) {
				t.Fatalf("tensor %s is not where it says", x.Name)
			}
		}
	})
}
