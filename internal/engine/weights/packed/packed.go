// Package packed keeps the packed form of a base's matrices in one file, so that only
// the first start of a model turns its weights into the order of the kernels; later
// ones read the file.
//
//	"MACARON PACKED 1" | u32 length of the table | u32 CRC of the table | table | zeros |
//	matrices, each at a multiple of 4096
//
// Numbers are little-endian, CRCs are CRC-32C. The table is JSON: the digest of the base,
// the layout of the kernels that wrote it, and for every matrix its name, format, shape,
// place, length and CRC. The file is a cache: one that does not fit the base, the kernels
// or its own checksums is not used, and is written again.
package packed

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"macaron/internal/disk"
	"macaron/internal/engine/kernel"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

const (
	magic    = "MACARON PACKED 1"
	fixed    = len(magic) + 8 // bytes before the table
	page     = 4096
	maxTable = 16 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// table is the head of a file.
type table struct {
	Base     ids.Digest `json:"base"`
	Layout   string     `json:"layout"` // kernel.Layout of the writer, and its arrangement
	Matrices []entry    `json:"matrices"`
}

// entry is one matrix.
type entry struct {
	Name   string        `json:"name"`
	Format kernel.Format `json:"format"`
	Rows   int           `json:"rows"`
	K      int           `json:"k"`
	At     int64         `json:"at"`
	Bytes  int64         `json:"bytes"`
	CRC    uint32        `json:"crc"`
}

// File is the matrices of a cache, in memory.
type File struct{ matrices map[string]*kernel.Matrix }

// Open reads the cache of a base and checks every byte of it. Without a file, and for one
// of other kernels, another base or another arrangement, it gives nil and no error;
// FormatInvalid tells of a damaged file. The arrangement names what the caller did to the
// weights before it packed them.
//
// The file is read, not mapped: a mapping has small pages, through which decoding is
// several percent slower, step after step, than through huge ones.
func Open(path string, base ids.Digest, arrangement string) (*File, error) {
	r, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(err, path)
	}
	defer r.Close() // read-only: nothing can be lost
	info, err := r.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, unreadable(cmp.Or(err, fs.ErrInvalid), path)
	}
	t, err := readTable(r, info.Size())
	if err != nil || t.Base != base || t.Layout != layout(arrangement) {
		return nil, err
	}
	f := &File{matrices: map[string]*kernel.Matrix{}}
	if err := f.take(r, info.Size(), t.Matrices); err != nil {
		return nil, err
	}
	return f, nil
}

func unreadable(err error, path string) error {
	return disk.Error(err, "the packed weights "+path+" cannot be read")
}

func layout(arrangement string) string { return kernel.Layout() + "; " + arrangement }

// Matrix gives a matrix by the name it was written under, nil for none. A nil File has none.
func (f *File) Matrix(name string) *kernel.Matrix {
	if f == nil {
		return nil
	}
	return f.matrices[name]
}

func damaged(what string) error {
	return errs.New(errs.FormatInvalid, "the file of packed weights is damaged: "+what, "nothing needs to be done: it is written again")
}

// readTable reads the head and checks it against its checksum.
func readTable(r io.ReaderAt, size int64) (t table, err error) {
	head := make([]byte, fixed)
	if err := readFull(r, head, 0); err != nil || !strings.HasPrefix(string(head), magic) {
		return t, damaged("it does not begin as one")
	}
	n, sum := binary.LittleEndian.Uint32(head[len(magic):]), binary.LittleEndian.Uint32(head[len(magic)+4:])
	if n > maxTable || int64(n) > size-int64(fixed) {
		return t, damaged("its table is longer than the file")
	}
	body := make([]byte, n)
	if err := readFull(r, body, int64(fixed)); err != nil {
		return t, err
	}
	if crc32.Checksum(body, castagnoli) != sum {
		return t, damaged("its table does not match its checksum")
	}
	if err := json.Unmarshal(body, &t); err != nil {
		return t, damaged("its table is not JSON")
	}
	return t, nil
}

func readFull(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case errors.Is(err, io.EOF):
		return damaged("it ends early")
	}
	return disk.Error(err, "the packed weights cannot be read")
}

// take makes the matrices, then fills and checks them side by side.
func (f *File) take(r io.ReaderAt, size int64, entries []entry) error {
	room, total := make([][]byte, len(entries)), int64(0)
	for i, e := range entries {
		if e.At < int64(fixed) || e.At%page != 0 || e.Bytes < 0 || e.At > size || e.Bytes > size-e.At {
			return damaged("a matrix lies outside of it")
		}
		if total += e.Bytes; total > size {
			return damaged("its matrices overlap")
		}
		room[i] = kernel.WeightBytes(int(e.Bytes))
		m, err := kernel.Packed(e.Format, e.Rows, e.K, room[i])
		if err != nil {
			return damaged(err.Error())
		}
		f.matrices[e.Name] = m
	}
	var g errgroup.Group
	g.SetLimit(runtime.NumCPU())
	for i, e := range entries {
		g.Go(func() error {
			if err := readFull(r, room[i], e.At); err != nil {
				return err
			}
			if crc32.Checksum(room[i], castagnoli) != e.CRC {
				return damaged("the matrix " + errs.Clip(e.Name) + " does not match its checksum")
			}
			return nil
		})
	}
	return g.Wait()
}
