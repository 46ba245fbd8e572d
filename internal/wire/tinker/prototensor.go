package tinker

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"macaron/internal/errs"
	"macaron/internal/train"
)

// protoTensor reads a Tensor; otherwise is the type of one that does not tell its own.
func protoTensor(name string, b []byte, otherwise dtype, zeros *room) (train.Tensor, error) {
	var values, crow, cols []byte
	var r raw
	var kind int64
	err := message(name, b, func(f field) error {
		switch f.number {
		case 1:
			r.sparse = false
			return f.data(&values)
		case 2:
			r.sparse = true
			return f.message(name, func(s field) error { return sparse(s, &values, &crow, &cols) })
		case 3:
			return f.integer(&kind)
		case 4:
			return f.integers(&r.Shape, tensorAxes)
		}
		return f.unknown()
	})
	if err != nil {
		return train.Tensor{}, err
	}
	d, err := dtypeOf(name, kind, otherwise)
	if err != nil {
		return train.Tensor{}, err
	}
	if err := r.fill(name, values, crow, cols, d); err != nil {
		return train.Tensor{}, err
	}
	return r.tensor(name, zeros)
}

func dtypeOf(name string, number int64, otherwise dtype) (dtype, error) {
	if number < 0 || number > int64(bfloat16s) {
		return 0, errs.New(errs.InvalidRequest, fmt.Sprintf("%s has the dtype %d", name, number), "use one from 0 to 4").In(name)
	}
	if number == int64(unspecified) {
		return otherwise, nil
	}
	return dtype(number), nil
}

func sparse(s field, values, crow, cols *[]byte) error {
	switch s.number {
	case 1:
		return s.data(values)
	case 2:
		return s.data(crow)
	case 3:
		return s.data(cols)
	}
	return s.unknown()
}

func (r *raw) fill(name string, values, crow, cols []byte, d dtype) error {
	t, err := binaryValues(name, values, d)
	if err != nil {
		return err
	}
	r.Floats, r.Ints = t.Floats, t.Ints
	for _, part := range []struct {
		from []byte
		into *[]int64
	}{{crow, &r.crow}, {cols, &r.cols}} {
		t, err := binaryValues(name, part.from, int64s)
		if err != nil {
			return err
		}
		*part.into = t.Ints
	}
	return nil
}

// appendTensor writes a Tensor of float32 values, dense.
func appendTensor(out []byte, number protowire.Number, t train.Tensor) []byte {
	body := appendBytes(nil, 1, float32Bytes(t.Floats))
	body = appendVarint(body, 3, uint64(float32s))
	return appendBytes(out, number, append(body, packed(4, t.Shape)...))
}
