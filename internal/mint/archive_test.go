package mint_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/mint"
)

// packed is a tar.gz of entries.
func packed(t *testing.T, entries ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, h := range entries {
		content := h.PAXRecords["content"]
		h.PAXRecords, h.Size, h.Mode = nil, int64(len(content)), 0o644
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []io.Closer{w, z} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func entry(name, content string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeReg, PAXRecords: map[string]string{"content": content}}
}

// TestUploads: the archive of a checkpoint comes back as a checkpoint with the same adapter;
// what leads out of an archive, swells, or is for another base is refused, and leaves nothing.
func TestUploads(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{UploadBytes: 1 << 20})
	model := r.model(t, "o", r.session(t, "o"))
	must[mint.Promise](t)(r.send("o", model, 1, op{seed: 1}))
	must[mint.Promise](t)(r.send("o", model, 2, op{step: true}))
	saved := r.save(t, "o", mint.Save{Model: model, Kind: mint.Sampling, Name: "a"})
	read := func(path string) (raw []byte, files map[string]string) {
		t.Helper()
		a := must[io.ReadCloser](t)(r.Archive(ctx, "o", path))
		raw = must[[]byte](t)(io.ReadAll(a))
		_ = a.Close()
		files = map[string]string{}
		in := tar.NewReader(must[*gzip.Reader](t)(gzip.NewReader(bytes.NewReader(raw))))
		for h, err := in.Next(); err == nil; h, err = in.Next() {
			files[h.Name] = string(must[[]byte](t)(io.ReadAll(in)))
		}
		return raw, files
	}
	raw, files := read(saved.Path)
	up := must[mint.Checkpoint](t)(r.Upload(ctx, "o", bytes.NewReader(raw)))
	if _, again := read(up.Path); again["adapter_model.safetensors"] != files["adapter_model.safetensors"] || len(again) != 2 || up.Base != tiny || up.Spec.Rank != shape.Rank {
		t.Errorf("uploaded: %+v", up)
	}
	config, tensors := entry("adapter_config.json", files["adapter_config.json"]), entry("x/adapter_model.safetensors", files["adapter_model.safetensors"])
	if _, err := r.Upload(ctx, "o", bytes.NewReader(packed(t, config, entry("README.md", "hello"), tensors))); err != nil {
		t.Errorf("with other files: %v", err)
	}
	there := r.files(t)
	many := []tar.Header{}
	for range 70 {
		many = append(many, entry("README.md", ""))
	}
	link := tar.Header{Name: "adapter_model.safetensors", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}
	other := strings.Replace(files["adapter_config.json"], `"r": 4`, `"r": 5`, 1)
	for name, c := range map[string]struct {
		body []byte
		want errs.Code
	}{
		"no gzip":     {[]byte("hello"), errs.FormatInvalid},
		"cut short":   {raw[:len(raw)/2], errs.FormatInvalid},
		"out":         {packed(t, config, entry("../adapter_model.safetensors", "x"), tensors), errs.FormatInvalid},
		"root":        {packed(t, config, entry("/adapter_model.safetensors", "x")), errs.FormatInvalid},
		"link":        {packed(t, config, link), errs.FormatInvalid},
		"twice":       {packed(t, config, config, tensors), errs.FormatInvalid},
		"no tensors":  {packed(t, config), errs.FormatInvalid},
		"many":        {packed(t, many...), errs.FormatInvalid},
		"bomb":        {packed(t, entry("adapter_model.safetensors", strings.Repeat("\x00", 2<<20))), errs.TooLarge},
		"other file":  {packed(t, entry("zeros", strings.Repeat("\x00", 2<<20)), config, tensors), errs.TooLarge},
		"wrong shape": {packed(t, entry("adapter_config.json", other), tensors), errs.FormatInvalid},
		"garbage":     {packed(t, config, entry("adapter_model.safetensors", "garbage")), errs.FormatInvalid},
	} {
		if _, err := r.Upload(ctx, "o", bytes.NewReader(c.body)); errs.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := r.files(t); n != there {
		t.Errorf("refused uploads left %d blobs", n-there)
	}
}
