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
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/weights/mapped"
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

// Open reads the cache of a base and checks every byte of it. The matrices are copied into
// memory of huge pages, which are read faster, step after step, than a file's small ones. Without a file, and for one
// of other kernels, another base or another arrangement, it gives nil and no error;
// FormatInvalid tells of a damaged file. The arrangement names what the caller did to the
// weights before it packed them.
func Open(path string, base ids.Digest, arrangement string) (*File, error) {
	raw, release, err := mapped.File(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, errs.Wrap(errs.StorageFailed, err, "the packed weights cannot be read", "check the permissions of "+path)
	}
	f := &File{matrices: map[string]*kernel.Matrix{}}
	t, err := readTable(raw)
	if err == nil && t.Base == base && t.Layout == layout(arrangement) {
		err = f.take(raw, t.Matrices)
	} else {
		f = nil
	}
	if cerr := release(); err == nil && cerr != nil {
		err = errs.Wrap(errs.StorageFailed, cerr, "the packed weights cannot be closed", "")
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func layout(arrangement string) string { return kernel.Layout() + "; " + arrangement }

// Matrix gives a matrix by the name it was written under, nil for none. A nil File has none.
func (f *File) Matrix(name string) *kernel.Matrix {
	if f == nil {
		return nil
	}
	return f.matrices[name]
}

// Close lets go of the matrices; those in use stay valid.
func (f *File) Close() error {
	if f != nil {
		f.matrices = nil
	}
	return nil
}

func damaged(what string) error {
	return errs.New(errs.FormatInvalid, "the file of packed weights is damaged: "+what, "nothing needs to be done: it is written again")
}

// readTable reads the head and checks it against its checksum.
func readTable(raw []byte) (t table, err error) {
	if len(raw) < fixed || !strings.HasPrefix(string(raw[:len(magic)]), magic) {
		return t, damaged("it does not begin as one")
	}
	n, sum := binary.LittleEndian.Uint32(raw[len(magic):]), binary.LittleEndian.Uint32(raw[len(magic)+4:])
	if n > maxTable || int(n) > len(raw)-fixed {
		return t, damaged("its table is longer than the file")
	}
	body := raw[fixed : fixed+int(n)]
	if crc32.Checksum(body, castagnoli) != sum {
		return t, damaged("its table does not match its checksum")
	}
	if err := json.Unmarshal(body, &t); err != nil {
		return t, damaged("its table is not JSON")
	}
	return t, nil
}

// take makes the matrices, then fills and checks them side by side.
func (f *File) take(raw []byte, entries []entry) error {
	room, total := make([][]byte, len(entries)), int64(0)
	for i, e := range entries {
		if e.At < int64(fixed) || e.At%page != 0 || e.Bytes < 0 || e.At > int64(len(raw)) || e.Bytes > int64(len(raw))-e.At {
			return damaged("a matrix lies outside of it")
		}
		if total += e.Bytes; total > int64(len(raw)) {
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
			copy(room[i], raw[e.At:])
			if crc32.Checksum(room[i], castagnoli) != e.CRC {
				return damaged("the matrix " + errs.Clip(e.Name) + " does not match its checksum")
			}
			return nil
		})
	}
	return g.Wait()
}
