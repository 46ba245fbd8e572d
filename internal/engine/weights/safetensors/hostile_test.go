package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
)

// file puts a header and data together.
func file(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, data)...)
}

func hostile() map[string][]byte {
	one := func(dtype, shape, offsets string) []byte {
		return file(fmt.Sprintf(`{"x":{"dtype":%s,"shape":%s,"data_offsets":%s}}`, dtype, shape, offsets), 8)
	}
	f32 := `"F32"`
	return map[string][]byte{
		"nothing":             {},
		"half a length":       {1, 0, 0},
		"length of 2^63":      append([]byte{0, 0, 0, 0, 0, 0, 0, 0x80}, "{}"...),
		"length past the end": append([]byte{3, 0, 0, 0, 0, 0, 0, 0}, "{}"...),
		"not an object":       file(`[]`, 0),
		"not JSON":            file(`{"x"`, 0),
		"not UTF-8":           file("{\"\xff\":1}", 0),
		"two objects":         file(`{}{}`, 0),
		"leading blank":       file(` {}`, 0),
		"duplicate tensor":    file(`{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2),
		"duplicate key":       file(`{"x":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1),
		"duplicate metadata":  file(`{"__metadata__":{"a":"1","a":"2"}}`, 0),
		"metadata of numbers": file(`{"__metadata__":{"a":1}}`, 0),
		"unknown key":         file(`{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"y":1}}`, 1),
		"missing key":         file(`{"x":{"dtype":"U8","data_offsets":[0,1]}}`, 1),
		"deep nesting":        file(`{"x":`+strings.Repeat("[", 100000), 0),
		"unknown type":        one(`"F8"`, "[2]", "[0,8]"),
		"type of a number":    one("3", "[2]", "[0,8]"),
		"negative dimension":  one(f32, "[-2]", "[0,8]"),
		"fraction":            one(f32, "[2.0]", "[0,8]"),
		"dimension of text":   one(f32, `["2"]`, "[0,8]"),
		"dims wrap":           one(f32, "[4611686018427387906]", "[0,8]"),
		"dims wrap twice":     one(f32, "[4294967296,4294967296,2]", "[0,8]"),
		"too many dims":       one(f32, "[1,1,1,1,1,1,1,1,2]", "[0,8]"),
		"dim beyond 2^64":     one(f32, "[18446744073709551618]", "[0,8]"),
		"wrong size":          one(f32, "[1]", "[0,8]"),
		"past the end":        one(f32, "[4]", "[0,16]"),
		"end before begin":    one(f32, "[2]", "[8,0]"),
		"one offset":          one(f32, "[2]", "[0]"),
		"three offsets":       one(f32, "[2]", "[0,8,8]"),
		"hole at the start":   one(f32, "[1]", "[4,8]"),
		"rest at the end":     one(f32, "[1]", "[0,4]"),
		"overlap":             file(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}}`, 6),
		"hole":                file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}`, 3),
	}
}

func TestHostileFilesAreRefused(t *testing.T) {
	for name, b := range hostile() {
		if _, err := safetensors.Parse(b); errs.CodeOf(err) != errs.FormatInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpenSaysWhichFileAndWhy(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "broken.safetensors")
	if err := os.WriteFile(path, hostile()["overlap"], 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := safetensors.Open(path)
	if e := errs.As(err); e.Code != errs.FormatInvalid || !strings.Contains(e.Message, path) || e.Next == "" {
		t.Errorf("%v", err)
	}
	if _, err := safetensors.Open(filepath.Join(dir, "none")); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("%v", err)
	}
}

func TestEveryPrefixIsRefused(t *testing.T) {
	whole, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, err := safetensors.Parse(whole[:n]); errs.CodeOf(err) != errs.FormatInvalid {
			t.Fatalf("a prefix of %d bytes: %v", n, err)
		}
	}
}

func TestMemoryIsBoundedByTheFile(t *testing.T) {
	files := hostile()
	var many strings.Builder
	for i := range safetensors.MaxTensors {
		fmt.Fprintf(&many, `%c"%x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`, "{,"[min(i, 1)], i)
	}
	files["most tensors"] = file(many.String()+"}", 0)
	files["long name"] = file(`{"`+strings.Repeat("n", 8<<20)+`":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, 0)
	for name, b := range files {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f, err := safetensors.Parse(b)
		runtime.ReadMemStats(&after)
		if kept := after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc); kept > uint64(2*len(b)+64<<20) {
			t.Errorf("%s: %d bytes for a file of %d", name, kept, len(b))
		}
		runtime.KeepAlive(f)
		if _, known := hostile()[name]; !known && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	whole, err := os.ReadFile(golden)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	for _, b := range hostile() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := safetensors.Parse(b)
		if err != nil {
			if errs.CodeOf(err) != errs.FormatInvalid {
				t.Fatalf("not a format error: %v", err)
			}
			return
		}
		var again bytes.Buffer
		if err := safetensors.Encode(&again, x.Tensors, x.Meta); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		y, err := safetensors.Parse(again.Bytes())
		if err != nil || len(y.Tensors) != len(x.Tensors) {
			t.Fatalf("what was written cannot be read: %v", err)
		}
	})
}
