package packed

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"macaron/internal/disk"
	"macaron/internal/engine/kernel"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Write stores matrices as the cache of a base. The file is seen whole or not at all; a
// disk that would be left with less than half of what it has free is spared.
func Write(path string, base ids.Digest, arrangement string, matrices map[string]*kernel.Matrix) error {
	t := layOut(base, arrangement, matrices)
	head, err := encode(t)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return disk.Error(err, "packed weights cannot be stored")
	}
	if free, err := disk.Free(dir); err == nil && int64(free/2) < t.end() {
		return disk.Full("packed weights are not stored")
	}
	f, err := os.CreateTemp(dir, ".packed-")
	if err != nil {
		return disk.Error(err, "packed weights cannot be stored")
	}
	err = fill(f, head, t, matrices)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return disk.Error(errors.Join(err, os.Remove(f.Name())), "packed weights cannot be stored")
	}
	return disk.Error(disk.SyncDir(dir), "packed weights cannot be stored")
}

// layOut gives every matrix its place, in the order of their names.
func layOut(base ids.Digest, arrangement string, matrices map[string]*kernel.Matrix) table {
	t := table{Base: base, Layout: layout(arrangement)}
	for _, name := range slices.Sorted(maps.Keys(matrices)) {
		m := matrices[name]
		t.Matrices = append(t.Matrices, entry{Name: name, Format: m.Format(), Rows: m.Rows(), K: m.K(),
			Bytes: int64(m.Bytes()), CRC: crc32.Checksum(m.Data(), castagnoli)})
	}
	at := pages(int64(fixed) + int64(len(t.Matrices))*512 + 4096) // room for the table itself
	for i := range t.Matrices {
		t.Matrices[i].At = at
		at = pages(at + t.Matrices[i].Bytes)
	}
	return t
}

func pages(n int64) int64 { return (n + page - 1) / page * page }

func (t *table) end() int64 {
	if len(t.Matrices) == 0 {
		return page
	}
	last := t.Matrices[len(t.Matrices)-1]
	return last.At + last.Bytes
}

// encode is everything before the first matrix.
func encode(t table) ([]byte, error) {
	body, err := json.Marshal(t)
	if err != nil {
		return nil, errs.Wrap(errs.Internal, err, "the table of packed weights cannot be encoded", "")
	}
	if len(t.Matrices) > 0 && int64(fixed+len(body)) > t.Matrices[0].At {
		return nil, errs.New(errs.Unsupported, "the names of the weights are too long to be stored packed", "")
	}
	head := append([]byte(magic), 0, 0, 0, 0, 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(head[len(magic):], uint32(len(body)))
	binary.LittleEndian.PutUint32(head[len(magic)+4:], crc32.Checksum(body, castagnoli))
	return append(head, body...), nil
}

func fill(f io.WriterAt, head []byte, t table, matrices map[string]*kernel.Matrix) error {
	if _, err := f.WriteAt(head, 0); err != nil {
		return err
	}
	for _, e := range t.Matrices {
		if _, err := f.WriteAt(matrices[e.Name].Data(), e.At); err != nil {
			return err
		}
	}
	return nil
}
