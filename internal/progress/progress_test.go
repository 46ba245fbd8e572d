package progress

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNothingIsDrawnIntoAFile(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := New(f)
	if b != nil {
		t.Fatal("a file is taken for a terminal")
	}
	b.Tell("x", 1, 2) // silent, and no panic
	b.Close()
}

func TestBarsEnd(t *testing.T) {
	var out bytes.Buffer
	b := draw(&out)
	for done := int64(0); done <= 2000; done += 500 {
		b.Tell("known", done, 2000)
	}
	b.Tell("unknown", 0, 0)
	b.Tell("unknown", 5000, 0)
	b.Tell("unknown", -1, 0)
	b.Tell("never begun", -1, 0)
	b.Tell("broken off", 1, 100)
	b.Close() // returns, though one is not at its end
	if got := out.String(); !strings.Contains(got, "known") || !strings.Contains(got, "2.0 KB of 2.0 KB") && !strings.Contains(got, "2.0 kB of 2.0 kB") {
		t.Errorf("got %q", got)
	}
	if len(b.bars) != 1 {
		t.Errorf("%d bars are open, want the one that broke off", len(b.bars))
	}
}

func TestLinesTellOnce(t *testing.T) {
	var out bytes.Buffer
	tell := Lines(&out)
	for i := range int64(3) {
		tell("a", i, 3)
	}
	tell("b", 0, 0)
	if got := out.String(); got != "fetching a ...\nfetching b ...\n" {
		t.Errorf("got %q", got)
	}
}
