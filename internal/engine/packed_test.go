package engine

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"macaron/internal/engine/enginetest"
	"macaron/internal/errs"
)

// A second start takes the packed weights of the first and gives the same bits; a damaged
// file is noticed, not used, and written again.
func TestPackedWeightsServeTheNextStart(t *testing.T) {
	file, dir := enginetest.Model(t, 3), t.TempDir()
	var told error
	start := func() (tokens []Token, kept bool) {
		e, err := Open(context.Background(), Options{Model: file, Threads: 1, Packed: dir, Notice: func(err error) { told = err }})
		if err != nil {
			t.Fatal(err)
		}
		kept = e.kept
		tokens = generate(t, e, Request{Prompt: []int32{1, 2, 3}, MaxTokens: 8, IgnoreEOS: true})
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		return tokens, kept
	}
	first, kept := start()
	if kept || told != nil {
		t.Fatal("packed weights before there were any", told)
	}
	second, kept := start()
	if !kept || told != nil {
		t.Fatal("the packed weights were not used", told)
	}
	if !reflect.DeepEqual(first, second) {
		t.Fatal("other bits")
	}

	files, err := filepath.Glob(filepath.Join(dir, "*.packed"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-1] ^= 1
	if err := os.WriteFile(files[0], raw, 0o600); err != nil {
		t.Fatal(err)
	}
	third, kept := start()
	if kept || errs.CodeOf(told) != errs.FormatInvalid {
		t.Fatal("a damaged file was used", told)
	}
	if !reflect.DeepEqual(first, third) {
		t.Fatal("other bits")
	}
	if _, kept = start(); !kept {
		t.Error("the damaged file was not written again")
	}
}
