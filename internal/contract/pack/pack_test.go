package pack

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

func source(t *testing.T) (*contract.Source, string) {
	t.Helper()
	full, err := os.ReadFile("../testdata/full.toml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := strings.Replace(string(full), `text = "Use pipes."`, `file = "`+strings.Repeat("long/", 30)+`s.md"`, 1)
	files := map[string]string{"macaron.toml": text, strings.Repeat("long/", 30) + "s.md": "Use pipes."}
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := contract.Open(filepath.Join(dir, "macaron.toml"))
	if err != nil {
		t.Fatal(err)
	}
	return s, filepath.Join(dir, "macaron.toml")
}

func pack(t *testing.T, s *contract.Source, signature []byte) []byte {
	t.Helper()
	b, err := Pack(s, signature)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The same content gives the same bytes whatever the files' times and owners, and comes
// out as it went in.
func TestPackAndUnpack(t *testing.T) {
	s, path := source(t)
	b := pack(t, s, []byte("sig"))
	if err := os.Chtimes(path, time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	again, err := contract.Open(path)
	if err != nil || !bytes.Equal(b, pack(t, again, []byte("sig"))) {
		t.Errorf("other bytes: %v", err)
	}
	c, err := Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Source(); err != nil || got.Contract.Hash() != s.Contract.Hash() || string(c.Signature) != "sig" {
		t.Errorf("%v", err)
	}
	dir := filepath.Join(t.TempDir(), "new")
	out, err := c.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	k, err := contract.Load(out)
	if err != nil || k.Hash() != s.Contract.Hash() {
		t.Errorf("%v", err)
	}
	if sig, err := os.ReadFile(out + ".sig"); err != nil || string(sig) != "sig" {
		t.Errorf("%q %v", sig, err)
	}
	if _, err := c.Write(dir); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("into a directory with files: %v", err)
	}
	if c, err := Read(bytes.NewReader(pack(t, s, nil))); err != nil || c.Signature != nil {
		t.Errorf("unsigned: %v", err)
	}
}

// A directory that cannot be written whole is not there, nor is anything beside it.
func TestWriteIsWholeOrNothing(t *testing.T) {
	s, _ := source(t)
	c, err := Read(bytes.NewReader(pack(t, s, nil)))
	if err != nil {
		t.Fatal(err)
	}
	parent := t.TempDir()
	c.Texts["a"], c.Texts["a/b"] = nil, nil // one of them is in the other's way
	if _, err := c.Write(filepath.Join(parent, "new")); errs.CodeOf(err) != errs.StorageFailed {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	delete(c.Texts, "a/b")
	if err := os.Mkdir(filepath.Join(parent, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(filepath.Join(parent, "empty")); err != nil {
		t.Errorf("into an empty directory: %v", err)
	}
}

// tar takes a pack apart.
func TestTarReadsIt(t *testing.T) {
	s, _ := source(t)
	dir := t.TempDir()
	p := filepath.Join(dir, "p.hcp")
	if err := os.WriteFile(p, pack(t, s, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("tar", "-xf", p, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	got, err := os.ReadFile(filepath.Join(dir, "files", "macaron.toml"))
	if err != nil || !bytes.Equal(got, s.Files[0].Text) {
		t.Errorf("%v", err)
	}
}

type entry struct {
	tar.Header
	text string
}

func archive(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if e.Typeflag == 0 {
			e.Typeflag = tar.TypeReg
		}
		if e.Typeflag == tar.TypeReg {
			e.Size = int64(len(e.text))
		}
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestHostilePacksAreRefused(t *testing.T) {
	s, _ := source(t)
	text := string(s.Files[0].Text)
	part := func(p string) contract.Part {
		return contract.Part{Path: p, Digest: ids.DigestOf([]byte(text)), Bytes: len(text)}
	}
	head := func(change func(*Manifest)) entry {
		m := Manifest{Format: Format, Contract: s.Plain(), Root: "macaron.toml", Files: []contract.Part{part("macaron.toml")}}
		if change != nil {
			change(&m)
		}
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return entry{tar.Header{Name: "hcp.json"}, string(b)}
	}
	file := func(name string) entry { return entry{tar.Header{Name: name}, text} }
	files := func(paths ...string) entry {
		return head(func(m *Manifest) {
			m.Files = nil
			for _, p := range paths {
				m.Files = append(m.Files, part(p))
			}
		})
	}
	good := archive(t, head(nil), file("files/macaron.toml"))
	if _, err := Read(bytes.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"empty":           {},
		"no tar":          bytes.Repeat([]byte("x"), 2000),
		"cut":             good[:1200],
		"traversal":       archive(t, files("../x", "macaron.toml"), file("files/../x"), file("files/macaron.toml")),
		"absolute":        archive(t, files("/x", "macaron.toml"), file("files//x"), file("files/macaron.toml")),
		"backslash":       archive(t, files(`a\b`, "macaron.toml"), file(`files/a\b`), file("files/macaron.toml")),
		"listed twice":    archive(t, files("macaron.toml", "macaron.toml"), file("files/macaron.toml"), file("files/macaron.toml")),
		"not listed":      archive(t, head(nil), file("files/macaron.toml"), file("files/more")),
		"one too many":    archive(t, head(nil), file("files/macaron.toml"), entry{tar.Header{Name: "hcp.sig"}, "s"}, file("x")),
		"other order":     archive(t, file("files/macaron.toml"), head(nil)),
		"link":            archive(t, head(nil), entry{tar.Header{Name: "files/macaron.toml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, ""}),
		"hard link":       archive(t, head(nil), entry{tar.Header{Name: "files/macaron.toml", Typeflag: tar.TypeLink, Linkname: "hcp.json"}, ""}),
		"device":          archive(t, head(nil), entry{tar.Header{Name: "files/macaron.toml", Typeflag: tar.TypeChar}, ""}),
		"directory":       archive(t, head(nil), entry{tar.Header{Name: "files/", Typeflag: tar.TypeDir}, ""}),
		"longer":          archive(t, head(nil), entry{tar.Header{Name: "files/macaron.toml"}, text + "#"}),
		"shorter":         archive(t, head(nil), entry{tar.Header{Name: "files/macaron.toml"}, text[1:]}),
		"other bytes":     archive(t, head(nil), entry{tar.Header{Name: "files/macaron.toml"}, "#" + text[1:]}),
		"huge":            archive(t, head(func(m *Manifest) { m.Files[0].Bytes = contract.MaxBytes + 1 }), file("files/macaron.toml")),
		"negative":        archive(t, head(func(m *Manifest) { m.Files[0].Bytes = -1 }), file("files/macaron.toml")),
		"no root":         archive(t, head(func(m *Manifest) { m.Root = "other" }), file("files/macaron.toml")),
		"no files":        archive(t, files()),
		"format":          archive(t, head(func(m *Manifest) { m.Format = "x" }), file("files/macaron.toml")),
		"manifest fields": archive(t, entry{tar.Header{Name: "hcp.json"}, `{"x":1}`}),
		"manifest twice":  archive(t, entry{tar.Header{Name: "hcp.json"}, `{"root":"a","root":"b"}`}),
		"bomb":            append(archive(t, head(nil), file("files/macaron.toml"))[:len(good)-1024], bytes.Repeat([]byte{1}, 1<<20)...),
	} {
		c, err := Read(bytes.NewReader(b))
		if code := errs.CodeOf(err); code != errs.FormatInvalid && code != errs.ChecksumMismatch && code != errs.TooLarge {
			t.Errorf("%s: %v %v", name, c, err)
		}
	}
	other, err := Read(bytes.NewReader(archive(t, head(func(m *Manifest) { m.Contract = ids.DigestOf(nil) }), file("files/macaron.toml"))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Source(); err == nil {
		t.Error("files that make another contract are taken")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := Read(bytes.NewReader(b)); err == nil && len(c.Texts) == 0 {
			t.Fatal("a pack of nothing")
		}
	})
}
