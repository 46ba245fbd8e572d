package main

import (
	"archive/tar"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/testvectors"
)

// archive writes a tar.gz with the given names and contents.
func archive(t *testing.T, files map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.tar.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	w := tar.NewWriter(z)
	for name, content := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []interface{ Close() error }{w, z, f} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestAWrongFileNeverReachesTheCache(t *testing.T) {
	first := testvectors.Files()[0]
	for name, files := range map[string]map[string]string{
		"changed":   {"pkg/" + first.Path: strings.Repeat("x", int(min(first.Size, 100)))},
		"traversal": {"pkg/../../" + first.Path: "x", "../" + first.Name(): "y"},
		"empty":     {},
	} {
		dir := t.TempDir()
		if err := extract(archive(t, files), filepath.Join(dir, "scratch"), dir); err == nil {
			t.Errorf("%s: the archive was taken", name)
		}
		if _, err := os.Stat(filepath.Join(dir, first.Name())); !os.IsNotExist(err) {
			t.Errorf("%s: a file was written", name)
		}
	}
}

func TestAnArchiveWithAnotherHashIsRefused(t *testing.T) {
	t.Setenv("MACARON_TESTDATA", t.TempDir())
	err := run(t.Context(), archive(t, map[string]string{"pkg/x": "y"}), "python3")
	if err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Fatalf("got %v", err)
	}
}
