package gguf

import (
	"fmt"
	"math/bits"
	"sort"
	"unicode/utf8"
)

const magic = "GGUF"

func parse(raw []byte) (*File, error) {
	c := &cursor{b: raw}
	f := &File{raw: raw}
	tensors, keys, err := f.header(c)
	if err != nil {
		return nil, err
	}
	if f.Meta, err = parseMeta(c, keys); err != nil {
		return nil, err
	}
	if f.Alignment, err = alignment(f.Meta); err != nil {
		return nil, err
	}
	if err := f.table(c, tensors); err != nil {
		return nil, err
	}
	return f, f.place(c.off)
}

// header reads magic, version and the two counts, which it bounds by the caps
// and by the bytes that the smallest possible entries would take.
func (f *File) header(c *cursor) (tensors, keys uint64, err error) {
	m, err := c.take(4, "the magic number")
	if err != nil {
		return 0, 0, err
	}
	if string(m) != magic {
		return 0, 0, bad("the file does not start with %q", magic)
	}
	if f.Version, err = c.u32("the version"); err != nil {
		return 0, 0, err
	}
	if f.Version != 2 && f.Version != 3 {
		if v := bits.ReverseBytes32(f.Version); v == 2 || v == 3 {
			return 0, 0, bad("the file is big-endian; only little-endian files are read")
		}
		return 0, 0, bad("version %d of the format is not supported, only 2 and 3", f.Version)
	}
	if tensors, err = c.u64("the tensor count"); err != nil {
		return 0, 0, err
	}
	if keys, err = c.u64("the metadata count"); err != nil {
		return 0, 0, err
	}
	const minTensor, minKey = 8 + 1 + 4 + 8 + 4 + 8, 8 + 1 + 4 + 1
	if tensors > MaxTensors || tensors > c.left()/minTensor {
		return 0, 0, bad("a count of %d tensors is more than the file can hold", tensors)
	}
	if keys > MaxKeys || keys > c.left()/minKey {
		return 0, 0, bad("a count of %d metadata entries is more than the file can hold", keys)
	}
	return tensors, keys, nil
}

// alignment reads general.alignment: a power of two.
func alignment(m Meta) (uint64, error) {
	a, err := m.UintOr("general.alignment", defaultAlignment)
	if err != nil {
		return 0, err
	}
	if a == 0 || a&(a-1) != 0 || a > MaxAlignment {
		return 0, bad("general.alignment is %d; it must be a power of two, at most %d", a, MaxAlignment)
	}
	return a, nil
}

// table reads the tensor entries. Offsets are still relative to the data section.
func (f *File) table(c *cursor, n uint64) error {
	f.byName = make(map[string]int)
	for i := range n {
		t, err := tensorEntry(c, i)
		if err != nil {
			return err
		}
		if _, dup := f.byName[t.Name]; dup {
			return bad("two tensors are named %q", t.Name)
		}
		f.byName[t.Name] = len(f.Tensors)
		f.Tensors = append(f.Tensors, t)
	}
	return nil
}

func tensorEntry(c *cursor, i uint64) (Tensor, error) {
	name, err := c.str(MaxNameLen, fmt.Sprintf("the name of tensor %d", i))
	if err != nil {
		return Tensor{}, err
	}
	if len(name) == 0 || !utf8.Valid(name) {
		return Tensor{}, bad("the name of tensor %d is empty or not UTF-8", i)
	}
	t := Tensor{Name: string(name)}
	if t.Dims, err = dims(c, t.Name); err != nil {
		return Tensor{}, err
	}
	kind, err := c.u32("the type of tensor " + t.Name)
	if err != nil {
		return Tensor{}, err
	}
	if t.Type = Type(kind); !t.Type.Known() {
		return Tensor{}, bad("tensor %s has the unknown type %d", t.Name, kind)
	}
	if t.Offset, err = c.u64("the offset of tensor " + t.Name); err != nil {
		return Tensor{}, err
	}
	t.Size, err = size(t)
	return t, err
}

func dims(c *cursor, name string) ([]uint64, error) {
	n, err := c.u32("the dimensions of tensor " + name)
	if err != nil {
		return nil, err
	}
	if n == 0 || n > MaxDims {
		return nil, bad("tensor %s has %d dimensions, 1 to %d are allowed", name, n, MaxDims)
	}
	d := make([]uint64, n)
	for i := range d {
		if d[i], err = c.u64("a dimension of tensor " + name); err != nil {
			return nil, err
		}
		if d[i] == 0 {
			return nil, bad("dimension %d of tensor %s is 0", i, name)
		}
	}
	return d, nil
}

// size computes the bytes of a tensor from its shape, refusing any overflow.
func size(t Tensor) (uint64, error) {
	n, ok := t.Type.RowBytes(t.Dims[0])
	if !ok {
		block, _ := t.Type.Block()
		return 0, bad("rows of tensor %s have %d elements, which is not a multiple of %d or too many", t.Name, t.Dims[0], block)
	}
	elements := t.Dims[0]
	for _, d := range t.Dims[1:] {
		var okBytes, okElements bool
		n, okBytes = mul(n, d)
		elements, okElements = mul(elements, d)
		if !okBytes || !okElements || elements > 1<<62 {
			return 0, bad("the shape %v of tensor %s overflows", t.Dims, t.Name)
		}
	}
	return n, nil
}

// place turns offsets into file positions, and checks that each tensor lies
// inside the file, aligned, and apart from every other.
func (f *File) place(tableEnd uint64) error {
	start, ok := alignUp(tableEnd, f.Alignment)
	if !ok {
		return bad("the data section starts beyond 2^64")
	}
	for i := range f.Tensors {
		t := &f.Tensors[i]
		if t.Offset%f.Alignment != 0 {
			return bad("the offset %d of tensor %s is not a multiple of %d", t.Offset, t.Name, f.Alignment)
		}
		total := uint64(len(f.raw))
		if start > total || t.Offset > total-start || t.Size > total-start-t.Offset {
			return bad("tensor %s (%d bytes at offset %d) ends beyond the end of the file (%d bytes of data)",
				t.Name, t.Size, t.Offset, total-min(start, total))
		}
		t.Offset += start
		t.data = f.raw[t.Offset : t.Offset+t.Size : t.Offset+t.Size]
	}
	return f.apart()
}

// apart checks that no two tensors share a byte.
func (f *File) apart() error {
	order := make([]int, len(f.Tensors))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(a, b int) bool { return f.Tensors[order[a]].Offset < f.Tensors[order[b]].Offset })
	for i := 1; i < len(order); i++ {
		a, b := &f.Tensors[order[i-1]], &f.Tensors[order[i]]
		if a.Offset+a.Size > b.Offset {
			return bad("the tensors %s and %s overlap", a.Name, b.Name)
		}
	}
	return nil
}
