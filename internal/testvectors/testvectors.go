// Package testvectors finds third-party test data: published tokenizer vectors and
// chat templates that this repository does not carry. `make testdata` brings them
// from one named package into the user's cache and checks every byte; tests find
// them here and fail, never skip, when they are absent.
package testvectors

import (
	_ "embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The package that carries the data: a source distribution on the Python package
// index, of which only the files in the manifest are kept.
const (
	Package = "llama-cpp-python"
	Version = "0.3.36"
	// SHA256 is the hash of the source distribution.
	SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
)

//go:embed manifest.txt
var manifest string

// File is a line of the manifest: what a file in the package must be.
type File struct {
	SHA256 string
	Size   int64  // bytes
	Path   string // inside the package, slash-separated
}

// Name is the last element of the path, by which tests ask for the file.
func (f File) Name() string { return path.Base(f.Path) }

// Files lists the manifest.
func Files() []File {
	var files []File
	for _, line := range strings.Split(strings.TrimSpace(manifest), "\n") {
		sum, rest, _ := strings.Cut(line, " ")
		size, name, _ := strings.Cut(rest, " ")
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || len(sum) != 64 || name == "" {
			panic(fmt.Sprintf("testvectors: the manifest has a malformed line %q", line))
		}
		files = append(files, File{SHA256: sum, Size: n, Path: name})
	}
	return files
}

// Dir is where the files lie: MACARON_TESTDATA if set, else a directory of this
// package's version below the user's cache.
func Dir() (string, error) {
	if dir := os.Getenv("MACARON_TESTDATA"); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache directory: %w; set MACARON_TESTDATA", err)
	}
	return filepath.Join(cache, "macaron", "testdata", Package+"-"+Version), nil
}

// Path is the path of a manifest file by its Name. The test fails when the file is
// not there or has not the size that the manifest says.
func Path(t testing.TB, name string) string {
	t.Helper()
	dir, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Files() {
		if f.Name() != name {
			continue
		}
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err != nil || info.Size() != f.Size {
			t.Fatalf("the test data %s are absent; run make testdata", p)
		}
		return p
	}
	t.Fatalf("%s is not in the manifest of test data", name)
	return ""
}
