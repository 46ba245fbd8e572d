package runtime

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// largest is what a runtime may weigh as gzip, in bytes.
const largest = 350_000

func TestCommittedFilesAreTheNamedBytes(t *testing.T) {
	sums, err := os.ReadFile("dist/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(sums)) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[name] = true
		b, err := os.ReadFile(filepath.Join("dist", name))
		if got := fmt.Sprintf("%x", sha256.Sum256(b)); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s: run make ui4a-runtime", name, got, err, want)
		}
	}
	entries, err := os.ReadDir("dist")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); name != "SHA256SUMS" && !listed[name] {
			t.Errorf("dist/%s has no checksum", name)
		}
	}
	if len(listed) != 3 {
		t.Errorf("%d checksums", len(listed))
	}
}

// The frame's document holds both inside elements of its own, admitted by their hashes.
func TestTextsStandInsideTheirElements(t *testing.T) {
	lower := strings.ToLower(Script())
	for _, end := range []string{"</script", "<!--"} {
		if strings.Contains(lower, end) {
			t.Errorf("the script contains %s", end)
		}
	}
	if strings.Contains(strings.ToLower(Style()), "</style") {
		t.Error("the stylesheet ends its element")
	}
	for what, text := range map[string]string{"script": Script(), "style": Style()} {
		if strings.ContainsAny(text, "\r\x00") {
			t.Errorf("the %s has bytes that a parser of HTML replaces: its hash would not hold", what)
		}
	}
	if strings.Contains(Style(), "url(") || strings.Contains(Style(), "@import") {
		t.Error("the stylesheet fetches something")
	}
}

func TestHashesAreThoseOfTheTexts(t *testing.T) {
	// printf '' | openssl dgst -sha256 -binary | base64
	if got := source(""); got != "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=" {
		t.Errorf("of nothing: %s", got)
	}
	if ScriptHash() != source(Script()) || StyleHash() != source(Style()) || ScriptHash() == StyleHash() {
		t.Errorf("%s, %s", ScriptHash(), StyleHash())
	}
}

func TestRuntimeIsSmall(t *testing.T) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte(Script() + Style()))
	if err := w.Close(); err != nil || b.Len() > largest {
		t.Errorf("%d bytes as gzip, %v; at most %d", b.Len(), err, largest)
	}
}

func TestEveryPackageInsideHasItsLicenceText(t *testing.T) {
	text := Licences()
	for _, name := range []string{"react 1", "react-dom 1", "scheduler ", "temml ", "lucide "} {
		if !strings.Contains(text, "\n"+name) {
			t.Errorf("nothing of %s", name)
		}
	}
	if n := strings.Count(text, "Copyright") + strings.Count(text, "copyright"); n < strings.Count(text, "======\n") {
		t.Errorf("%d lines of copyright", n)
	}
}
