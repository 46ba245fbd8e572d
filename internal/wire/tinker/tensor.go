package tinker

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"macaron/internal/errs"
	"macaron/internal/train"
)

// room is how many values the sparse tensors of a request may still become. They take a few
// bytes in a body, whatever their shape, so that no bound on bodies holds them.
type room struct{ left int64 }

func newRoom() *room { return &room{tensorValues} }

func (m *room) take(field string, size int64) error {
	if size > m.left {
		return errs.New(errs.TooLarge, fmt.Sprintf("%s makes the sparse tensors of the request more than %d values", field, tensorValues), "send the data in several requests").In(field)
	}
	m.left -= size
	return nil
}

// A dtype is the type of a tensor's values, with the numbers that it has in protobuf.
type dtype int

const (
	unspecified dtype = iota
	float32s
	int64s
	int32s
	bfloat16s
)

// The bounds of one tensor.
const (
	tensorValues = 16 << 20
	tensorAxes   = 4
)

func (d dtype) bytes() int {
	switch d {
	case int64s:
		return 8
	case bfloat16s:
		return 2
	}
	return 4
}

func (d dtype) floats() bool { return d == float32s || d == bfloat16s }

// usual is the type that a loss's input of this name has, for tensors that do not tell.
func usual(name string) dtype {
	if name == "target_tokens" {
		return int64s
	}
	return float32s
}

// raw is a tensor as it came: its values, and where they are if it is sparse.
type raw struct {
	train.Tensor
	sparse     bool
	crow, cols []int64
}

// tensor makes the dense tensor. Of a sparse one the values that are not listed are zero.
func (r raw) tensor(field string, zeros *room) (t train.Tensor, err error) {
	n := int64(len(r.Floats) + len(r.Ints))
	if len(r.Shape) == 0 && !r.sparse {
		r.Shape = []int64{n}
	}
	size, err := elements(field, r.Shape)
	if err != nil {
		return t, err
	}
	if err := finite(field, r.Floats); err != nil {
		return t, err
	}
	if r.sparse {
		return r.dense(field, size, zeros)
	}
	if size != n {
		return t, wrongTensor(field, fmt.Sprintf("has %d values for the shape %v", n, r.Shape))
	}
	return r.Tensor, nil
}

// elements is how many values a shape has.
func elements(field string, shape []int64) (int64, error) {
	size := int64(1)
	if len(shape) > tensorAxes {
		return 0, wrongTensor(field, fmt.Sprintf("has %d axes, more than %d", len(shape), tensorAxes))
	}
	for _, n := range shape {
		if n < 0 || n > tensorValues || size*n > tensorValues {
			return 0, wrongTensor(field, fmt.Sprintf("has the shape %v; at most %d values are taken", shape, tensorValues))
		}
		size *= n
	}
	return size, nil
}

func finite(field string, values []float32) error {
	for i, x := range values {
		if x-x != 0 { // an infinity or no number
			return wrongTensor(field, fmt.Sprintf("has the value %g at %d", x, i))
		}
	}
	return nil
}

// dense fills a matrix from compressed rows: row i has the values crow[i] to crow[i+1], whose
// columns stand in cols, rising.
func (r raw) dense(field string, size int64, zeros *room) (train.Tensor, error) {
	t := train.Tensor{Shape: r.Shape}
	if err := r.check(field); err != nil {
		return t, err
	}
	if err := zeros.take(field, size); err != nil {
		return t, err
	}
	if r.Ints != nil {
		t.Ints = make([]int64, size)
	} else {
		t.Floats = make([]float32, size)
	}
	width := r.Shape[1]
	for row := range r.Shape[0] {
		for at := r.crow[row]; at < r.crow[row+1]; at++ {
			to := row*width + r.cols[at]
			if r.Ints != nil {
				t.Ints[to] = r.Ints[at]
			} else {
				t.Floats[to] = r.Floats[at]
			}
		}
	}
	return t, nil
}

func (r raw) check(field string) error {
	n := int64(len(r.Floats) + len(r.Ints))
	if len(r.Shape) != 2 || int64(len(r.crow)) != r.Shape[0]+1 || int64(len(r.cols)) != n || r.crow[0] != 0 || r.crow[r.Shape[0]] != n {
		return wrongTensor(field, fmt.Sprintf("is sparse with %d values, %d row bounds and %d columns for the shape %v", n, len(r.crow), len(r.cols), r.Shape))
	}
	for row := range r.Shape[0] {
		last, end := int64(-1), r.crow[row+1]
		if end < r.crow[row] || end > n {
			return wrongTensor(field, fmt.Sprintf("has row bounds that fall at row %d", row))
		}
		for _, col := range r.cols[r.crow[row]:end] {
			if col <= last || col >= r.Shape[1] {
				return wrongTensor(field, fmt.Sprintf("has columns in row %d that do not rise or are outside of %v", row, r.Shape))
			}
			last = col
		}
	}
	return nil
}

func wrongTensor(field, what string) error {
	return errs.New(errs.InvalidRequest, field+" "+what, "").In(field)
}

// binaryValues reads little-endian values of a type.
func binaryValues(field string, b []byte, d dtype) (t train.Tensor, err error) {
	if len(b)%d.bytes() != 0 {
		return t, wrongTensor(field, fmt.Sprintf("has %d bytes, which are no whole number of %d-byte values", len(b), d.bytes()))
	}
	n := len(b) / d.bytes()
	if d.floats() {
		t.Floats = make([]float32, n)
	} else {
		t.Ints = make([]int64, n)
	}
	for i := range n {
		switch d {
		case float32s:
			t.Floats[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		case bfloat16s:
			t.Floats[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[2*i:])) << 16)
		case int32s:
			t.Ints[i] = int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
		default:
			t.Ints[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
	return t, nil
}

// jsonTensor reads {data, dtype, shape, sparse_crow_indices, sparse_col_indices}.
func jsonTensor(field string, text json.RawMessage, zeros *room) (train.Tensor, error) {
	o := objectOf(field, text)
	var r raw
	switch d := o.name("dtype"); d {
	case "int64":
		r.Ints = o.ints("data")
	case "float32":
		r.Floats = o.floats("data")
	default:
		o.fail(errs.New(errs.InvalidRequest, fmt.Sprintf("%s has the dtype %q", field, errs.Clip(d)), "use float32 or int64").In(o.path("dtype")))
	}
	r.Shape = o.ints("shape")
	r.crow, r.cols = o.ints("sparse_crow_indices"), o.ints("sparse_col_indices")
	r.sparse = r.crow != nil || r.cols != nil
	if err := o.close(); err != nil {
		return train.Tensor{}, err
	}
	return r.tensor(field, zeros)
}
