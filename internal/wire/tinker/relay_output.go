package tinker

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"macaron/internal/jsonscan"
	"macaron/internal/train"
)

// outputs is a ForwardBackwardOutput with whatever tensors a server gives of each datum.
type outputs struct {
	Kind    string
	Data    []map[string]train.Tensor
	Metrics map[string]float64
}

// tensorText is a tensor as JSON has it; what is no number is null or a word of Python's.
type tensorText struct {
	Data  []*json.Number `json:"data"`
	DType string         `json:"dtype"`
	Shape []int64        `json:"shape"`
}

func (t tensorText) tensor() (out train.Tensor, err error) {
	out.Shape = t.Shape
	for _, n := range t.Data {
		switch {
		case t.DType == "int64" && n != nil:
			var x int64
			x, err = n.Int64()
			out.Ints = append(out.Ints, x)
		case n == nil:
			out.Floats = append(out.Floats, float32(math.NaN()))
		default:
			var x float64
			x, err = n.Float64()
			out.Floats = append(out.Floats, float32(x))
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func outputsOfJSON(text []byte) (*outputs, error) {
	var v struct {
		Kind    string                  `json:"loss_fn_output_type"`
		Data    []map[string]tensorText `json:"loss_fn_outputs"`
		Metrics map[string]float64      `json:"metrics"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	o := &outputs{Kind: v.Kind, Metrics: v.Metrics}
	for _, d := range v.Data {
		one := map[string]train.Tensor{}
		for name, t := range d {
			var err error
			if one[name], err = t.tensor(); err != nil {
				return nil, err
			}
		}
		o.Data = append(o.Data, one)
	}
	return o, nil
}

func (o *outputs) json() []byte {
	out := jsonscan.Quote([]byte(`{"loss_fn_output_type":`), o.Kind)
	out = list(append(out, `,"loss_fn_outputs":`...), o.Data, appendTensorsJSON)
	return append(jsonMetrics(append(out, `,"metrics":`...), o.Metrics), '}')
}

// proto writes one record of each datum, since their tensors may be of different shapes.
func (o *outputs) proto() []byte {
	out := appendBytes(nil, 1, []byte(o.Kind))
	for _, d := range o.Data {
		record := appendBytes(nil, 1, []byte(recordType))
		for _, name := range slices.Sorted(maps.Keys(d)) {
			record = appendBytes(record, 2, appendBytes(appendBytes(nil, 1, []byte(name)), 2, batchOfOne(d[name])))
		}
		out = appendBytes(out, 2, appendVarint(record, 3, 1))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Metrics)) {
		entry := protowire.AppendFixed64(protowire.AppendTag(appendBytes(nil, 1, []byte(name)), 2, protowire.Fixed64Type), math.Float64bits(o.Metrics[name]))
		out = appendBytes(out, 3, entry)
	}
	return out
}

// batchOfOne is a BatchedTensor of one datum.
func batchOfOne(t train.Tensor) []byte {
	values, kind := float32Bytes(t.Floats), float32s
	if t.Ints != nil {
		values, kind = int64Bytes(t.Ints), int64s
	}
	offsets := binary.LittleEndian.AppendUint64(make([]byte, 8), uint64(len(values)))
	out := appendVarint(appendBytes(appendBytes(nil, 1, values), 2, offsets), 3, uint64(kind))
	return append(out, packed(4, trailing(t))...)
}

func outputsOfProto(body []byte) (*outputs, error) {
	o := &outputs{Metrics: map[string]float64{}}
	return o, message("ForwardBackwardOutput", body, func(m field) error {
		switch m.number {
		case 1:
			return m.text(&o.Kind)
		case 2:
			return o.record(m)
		case 3:
			var x float64
			name, err := m.entry(func(v field) error { return v.double(&x) })
			o.Metrics[name] = x
			return err
		}
		return nil // of a newer server
	})
}

// record reads an ArrayRecord, and appends its data.
func (o *outputs) record(m field) error {
	fields, n := map[string][]train.Tensor{}, int64(0)
	err := m.message("ArrayRecord", func(f field) error {
		switch f.number {
		case 2:
			var b []byte
			name, err := f.entry(func(v field) error { return v.data(&b) })
			if err == nil {
				fields[name], err = batched(b)
			}
			return err
		case 3:
			return f.integer(&n)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if n < 0 || n > dataCount || len(o.Data)+int(n) > dataCount {
		return fmt.Errorf("a record of %d data", n)
	}
	for i := range int(n) {
		one := map[string]train.Tensor{}
		for name, all := range fields {
			if len(all) != int(n) {
				return fmt.Errorf("%s of %d data, not %d", name, len(all), n)
			}
			one[name] = all[i]
		}
		o.Data = append(o.Data, one)
	}
	return nil
}

// batched reads a BatchedTensor: the tensors of all its data one behind the other, with the
// byte at which each begins and, last, ends.
func batched(b []byte) (all []train.Tensor, err error) {
	var data, bounds []byte
	var kind int64
	var trailing []int64
	err = message("BatchedTensor", b, func(f field) error {
		switch f.number {
		case 1:
			return f.data(&data)
		case 2:
			return f.data(&bounds)
		case 3:
			return f.integer(&kind)
		case 4:
			return f.integers(&trailing, tensorAxes)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d, err := dtypeOf("BatchedTensor", kind, float32s)
	if err != nil {
		return nil, err
	}
	width, err := elements("BatchedTensor", trailing)
	if err != nil {
		return nil, err
	}
	for i := 0; i+16 <= len(bounds); i += 8 {
		from, to := binary.LittleEndian.Uint64(bounds[i:]), binary.LittleEndian.Uint64(bounds[i+8:])
		if from > to || to > uint64(len(data)) {
			return nil, fmt.Errorf("a tensor from byte %d to %d of %d", from, to, len(data))
		}
		t, err := binaryValues("BatchedTensor", data[from:to], d)
		if err != nil {
			return nil, err
		}
		t.Shape = append([]int64{int64(len(t.Floats)+len(t.Ints)) / max(width, 1)}, trailing...)
		all = append(all, t)
	}
	return all, nil
}
