package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf8"
)

// entry is a tensor as the header describes it.
type entry struct {
	name       string
	dtype      DType
	shape      []uint64
	begin, end uint64
}

// Parse reads a file held in raw, which must not change while the File is used.
// Close is then not needed.
func Parse(raw []byte) (*File, error) {
	if len(raw) < 8 {
		return nil, bad("the file has %d bytes, the header's length alone takes 8", len(raw))
	}
	n := binary.LittleEndian.Uint64(raw)
	if n > MaxHeader || n > uint64(len(raw)-8) {
		return nil, bad("the header claims %d bytes, the file has %d and %d are allowed", n, len(raw)-8, MaxHeader)
	}
	header, data := raw[8:8+n], raw[8+n:]
	if !utf8.Valid(header) || len(header) == 0 || header[0] != '{' {
		return nil, bad("the header is not a JSON object in UTF-8")
	}
	r := &reader{dec: json.NewDecoder(bytes.NewReader(header))}
	r.dec.UseNumber()
	entries, meta, err := r.header()
	if err != nil {
		return nil, err
	}
	return build(entries, meta, data)
}

// build checks that the entries tile the data and makes the tensors.
func build(entries []entry, meta map[string]string, data []byte) (*File, error) {
	slices.SortFunc(entries, func(a, b entry) int {
		if a.begin != b.begin {
			return cmp64(a.begin, b.begin)
		}
		return cmp64(a.end, b.end)
	})
	f := &File{Meta: meta, byName: make(map[string]int, len(entries)), Tensors: make([]Tensor, 0, len(entries))}
	at := uint64(0)
	for _, e := range entries {
		if e.begin != at || e.end < e.begin || e.end > uint64(len(data)) {
			return nil, bad("tensor %q lies at bytes %d to %d; it must start at %d and end within %d", e.name, e.begin, e.end, at, len(data))
		}
		if size, ok := e.size(); !ok || size != e.end-e.begin {
			return nil, bad("tensor %q of shape %v and type %s does not take %d bytes", e.name, e.shape, e.dtype, e.end-e.begin)
		}
		f.byName[e.name] = len(f.Tensors)
		f.Tensors = append(f.Tensors, Tensor{Name: e.name, DType: e.dtype, Shape: e.shape, Data: data[e.begin:e.end:e.end]})
		at = e.end
	}
	if at != uint64(len(data)) {
		return nil, bad("%d bytes follow the last tensor", uint64(len(data))-at)
	}
	return f, nil
}

func cmp64(a, b uint64) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

// size is the bytes that shape and type take; ok is false when they overflow.
func (e entry) size() (uint64, bool) {
	n := uint64(e.dtype.Size())
	for _, d := range e.shape {
		hi, lo := bits.Mul64(n, d)
		if hi != 0 {
			return 0, false
		}
		n = lo
	}
	return n, true
}

// reader walks the header token by token, since only that shows duplicate keys.
type reader struct{ dec *json.Decoder }

func (r *reader) header() (entries []entry, meta map[string]string, err error) {
	names := map[string]bool{}
	err = r.object(func(name string) (err error) {
		if names[name] {
			return bad("the header names %q twice", name)
		}
		names[name] = true
		if name == "__metadata__" {
			meta, err = r.metadata()
			return err
		}
		if len(entries) == MaxTensors {
			return bad("the header has more than %d tensors", MaxTensors)
		}
		e, err := r.entry(name)
		entries = append(entries, e)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, bad("the header goes on after its object")
	}
	return entries, meta, nil
}

// object reads {...}, calling field after each key to read its value.
func (r *reader) object(field func(key string) error) error {
	if err := r.delim('{'); err != nil {
		return err
	}
	for r.dec.More() {
		key, err := r.text()
		if err != nil {
			return err
		}
		if err := field(key); err != nil {
			return err
		}
	}
	return r.delim('}')
}

func (r *reader) delim(want json.Delim) error {
	t, err := r.dec.Token()
	if err != nil {
		return bad("the header is not JSON: %v", err)
	}
	if t != want {
		return bad("the header has %v where %v must stand", t, want)
	}
	return nil
}

func (r *reader) text() (string, error) {
	t, err := r.dec.Token()
	if err != nil {
		return "", bad("the header is not JSON: %v", err)
	}
	s, ok := t.(string)
	if !ok {
		return "", bad("the header has %v where a text must stand", t)
	}
	return s, nil
}

func (r *reader) metadata() (map[string]string, error) {
	meta := map[string]string{}
	err := r.object(func(key string) error {
		if _, dup := meta[key]; dup {
			return bad("the metadata name %q twice", key)
		}
		v, err := r.text()
		meta[key] = v
		return err
	})
	return meta, err
}

// entry reads {"dtype":…,"shape":[…],"data_offsets":[begin,end]} with each key once.
func (r *reader) entry(name string) (entry, error) {
	e := entry{name: name}
	seen := map[string]bool{}
	err := r.object(func(key string) (err error) {
		if seen[key] {
			return bad("tensor %q has the key %q twice", name, key)
		}
		seen[key] = true
		switch key {
		case "dtype":
			var s string
			s, err = r.text()
			if e.dtype = DType(s); err == nil && e.dtype.Size() == 0 {
				err = bad("tensor %q has the unsupported type %q", name, s)
			}
		case "shape":
			e.shape, err = r.numbers(MaxDims)
		case "data_offsets":
			var at []uint64
			if at, err = r.numbers(2); err == nil && len(at) != 2 {
				err = bad("tensor %q needs two data offsets", name)
			}
			if err == nil {
				e.begin, e.end = at[0], at[1]
			}
		default:
			err = bad("tensor %q has the unknown key %q", name, key)
		}
		return err
	})
	if err == nil && len(seen) != 3 {
		err = bad("tensor %q needs dtype, shape and data_offsets", name)
	}
	return e, err
}

// numbers reads an array of at most limit integers that are not negative.
func (r *reader) numbers(limit int) ([]uint64, error) {
	if err := r.delim('['); err != nil {
		return nil, err
	}
	out := []uint64{}
	for r.dec.More() {
		t, err := r.dec.Token()
		if err != nil {
			return nil, bad("the header is not JSON: %v", err)
		}
		n, err := strconv.ParseUint(fmt.Sprint(t), 10, 64)
		if _, ok := t.(json.Number); !ok || err != nil {
			return nil, bad("the header has %v where a whole number must stand", t)
		}
		if len(out) == limit {
			return nil, bad("the header has a list of more than %d numbers", limit)
		}
		out = append(out, n)
	}
	return out, r.delim(']')
}
