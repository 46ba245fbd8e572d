package mint

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"macaron/internal/errs"
)

// zeros are endless.
type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// swollen is a tar.gz whose tensors are so many zeros, with so many more behind its end.
func swollen(t *testing.T, tensors, behind int64) []byte {
	t.Helper()
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	w := tar.NewWriter(z)
	for name, size := range map[string]int64{configFile: 2, tensorsFile: tensors} {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(w, zeros{}, size); err != nil {
			t.Fatal(err)
		}
	}
	err := w.Close()
	if _, more := io.CopyN(z, zeros{}, behind); err != nil || more != nil || z.Close() != nil {
		t.Fatal(err, more)
	}
	return b.Bytes()
}

// A small archive does not take the memory of a large one, within its files or behind them.
func TestArchivesUnpackInProportion(t *testing.T) {
	for _, c := range []struct {
		tensors, behind, most int64
		want                  errs.Code
	}{
		{unpackFree / 2, 0, 4 << 30, ""},
		{unpackFree * 3 / 2, 0, 4 << 30, errs.TooLarge},
		{1000, unpackFree * 3 / 2, 4 << 30, errs.TooLarge},
		{1000, 1 << 20, 1 << 20, errs.TooLarge},
	} {
		_, err := unzipPEFT(bytes.NewReader(swollen(t, c.tensors, c.behind)), c.most, func(r io.Reader) io.Reader { return r })
		if (err != nil) != (c.want != "") || err != nil && errs.CodeOf(err) != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
