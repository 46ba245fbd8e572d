package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"macaron/internal/disk"
	"macaron/internal/errs"
)

// Write stores tensors and metadata at path: first in a temporary file beside it,
// which is synced and then takes the name, so that path holds the old file or the
// whole new one. Equal content gives equal bytes, in whatever order it comes:
// tensors are sorted by falling alignment and then by name, keys by name.
func Write(path string, tensors []Tensor, meta map[string]string) error {
	header, sorted, err := layout(tensors, meta)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return disk.Error(err, path+" cannot be written")
	}
	err = errors.Join(f.Chmod(0o644), emit(f, header, sorted), f.Sync())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return disk.Error(errors.Join(err, os.Remove(f.Name())), path+" cannot be written")
	}
	return disk.Error(disk.SyncDir(filepath.Dir(path)), path+" cannot be written")
}

// Encode writes the same bytes as Write to w.
func Encode(w io.Writer, tensors []Tensor, meta map[string]string) error {
	header, sorted, err := layout(tensors, meta)
	if err != nil {
		return err
	}
	return emit(w, header, sorted)
}

func emit(w io.Writer, header []byte, tensors []Tensor) error {
	if _, err := w.Write(header); err != nil {
		return err
	}
	for _, t := range tensors {
		if _, err := w.Write(t.Data); err != nil {
			return err
		}
	}
	return nil
}

// layout checks the tensors and makes the header with its length, padded with
// blanks so that the data start at a multiple of 8.
func layout(tensors []Tensor, meta map[string]string) ([]byte, []Tensor, error) {
	sorted := slices.Clone(tensors)
	slices.SortFunc(sorted, func(a, b Tensor) int {
		if d := b.DType.Size() - a.DType.Size(); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	var h bytes.Buffer
	h.Write(make([]byte, 8))
	h.WriteByte('{')
	if len(meta) > 0 {
		text, err := json.Marshal(meta)
		if err != nil {
			return nil, nil, errs.Wrap(errs.Internal, err, "cannot encode the metadata", "")
		}
		h.WriteString(`"__metadata__":`)
		h.Write(text)
	}
	names := map[string]bool{"__metadata__": true}
	at := 0
	for _, t := range sorted {
		if names[t.Name] || !utf8.ValidString(t.Name) {
			return nil, nil, errs.Newf(errs.InvalidRequest, "the tensor name %q is reserved, not UTF-8 or used twice", t.Name)
		}
		names[t.Name] = true
		if err := describe(&h, t, at); err != nil {
			return nil, nil, err
		}
		at += len(t.Data)
	}
	h.WriteByte('}')
	for h.Len()%8 != 0 {
		h.WriteByte(' ')
	}
	out := h.Bytes()
	binary.LittleEndian.PutUint64(out, uint64(len(out)-8))
	return out, sorted, nil
}

// describe appends one tensor's line of the header.
func describe(h *bytes.Buffer, t Tensor, at int) error {
	e := entry{dtype: t.DType, shape: t.Shape}
	if size, ok := e.size(); !ok || t.DType.Size() == 0 || size != uint64(len(t.Data)) || len(t.Shape) > MaxDims {
		return errs.Newf(errs.InvalidRequest, "tensor %q of shape %v and type %q does not take %d bytes", t.Name, t.Shape, t.DType, len(t.Data))
	}
	name, err := json.Marshal(t.Name)
	if err != nil {
		return errs.Wrap(errs.Internal, err, "cannot encode a tensor's name", "")
	}
	if h.Len() > len("12345678{") {
		h.WriteByte(',')
	}
	shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(t.Shape), "[]"), " ", ",")
	fmt.Fprintf(h, `%s:{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}`, name, t.DType, shape, at, at+len(t.Data))
	return nil
}
