package tinker

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"macaron/internal/mint"
	"macaron/internal/train"
)

func appendBytes(out []byte, number protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(out, number, protowire.BytesType), b)
}

func appendVarint(out []byte, number protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(out, number, protowire.VarintType), n)
}

// packed writes repeated integers; without any there is no field.
func packed(number protowire.Number, values []int64) []byte {
	if len(values) == 0 {
		return nil
	}
	var b []byte
	for _, n := range values {
		b = protowire.AppendVarint(b, uint64(n))
	}
	return appendBytes(nil, number, b)
}

func float32Bytes(values []float32) []byte {
	out := make([]byte, 0, 4*len(values))
	for _, x := range values {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

func int32Bytes(values []int32) []byte {
	out := make([]byte, 0, 4*len(values))
	for _, n := range values {
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
	}
	return out
}

// protoOutput writes a ForwardBackwardOutput. Data whose tensors agree in all axes but the
// first stand in one record, in order.
func protoOutput(o *train.Output) []byte {
	out := appendBytes(nil, 1, []byte(recordType))
	for from := 0; from < len(o.Logprobs); {
		to := from + 1
		for to < len(o.Logprobs) && slices.Equal(trailing(o.Logprobs[to]), trailing(o.Logprobs[from])) {
			to++
		}
		out = appendBytes(out, 2, arrayRecord(o.Logprobs[from:to]))
		from = to
	}
	for _, name := range slices.Sorted(maps.Keys(o.Metrics)) {
		entry := appendBytes(nil, 1, []byte(name))
		entry = protowire.AppendFixed64(protowire.AppendTag(entry, 2, protowire.Fixed64Type), math.Float64bits(o.Metrics[name]))
		out = appendBytes(out, 3, entry)
	}
	return out
}

// recordType is what the outputs of a loss are called.
const recordType = "ArrayRecord"

// trailing are the axes of a tensor but the first.
func trailing(t train.Tensor) []int64 {
	if len(t.Shape) < 2 {
		return nil
	}
	return t.Shape[1:]
}

// arrayRecord writes an ArrayRecord of one field: all tensors as one, with the byte offsets
// of each.
func arrayRecord(data []train.Tensor) []byte {
	var values []byte
	offsets := make([]byte, 8, 8*(len(data)+1))
	for _, t := range data {
		values = append(values, float32Bytes(t.Floats)...)
		offsets = binary.LittleEndian.AppendUint64(offsets, uint64(len(values)))
	}
	tensor := appendBytes(nil, 1, values)
	tensor = appendBytes(tensor, 2, offsets)
	tensor = appendVarint(tensor, 3, uint64(float32s))
	tensor = append(tensor, packed(4, trailing(data[0]))...)
	entry := appendBytes(appendBytes(nil, 1, []byte("logprobs")), 2, tensor)
	out := appendBytes(appendBytes(nil, 1, []byte(recordType)), 2, entry)
	return appendVarint(out, 3, uint64(len(data)))
}

// protoSamples writes a SampleResponse. What was not computed in a prompt is NaN.
func protoSamples(s *mint.Samples) []byte {
	var out []byte
	for _, q := range s.Sequences {
		one := appendBytes(nil, 2, int32Bytes(q.Tokens))
		if q.Stop == mint.Length {
			one = append(appendVarint(nil, 1, 1), one...)
		}
		if q.Logprobs != nil {
			one = appendBytes(one, 3, float32Bytes(q.Logprobs))
		}
		out = appendBytes(out, 1, appendTop(one, 4, q.Top))
	}
	if s.PromptLogprobs != nil {
		out = appendBytes(out, 2, float32Bytes(s.PromptLogprobs))
	}
	out = appendTop(out, 3, s.PromptTop)
	out = appendVarint(out, 4, uint64(s.Cached))
	if s.Targets != nil {
		out = appendTensor(out, 5, withoutNaN(*s.Targets))
	}
	return out
}

// withoutNaN has 0 where nothing was asked for.
func withoutNaN(t train.Tensor) train.Tensor {
	t.Floats = slices.Clone(t.Floats)
	for i, x := range t.Floats {
		if x != x {
			t.Floats[i] = 0
		}
	}
	return t
}

// missing stands where there are fewer alternatives than others have.
const missing = -99999

// appendTop writes TopkLogprobs: a matrix of as many columns as the longest row has.
func appendTop(out []byte, number protowire.Number, rows [][]mint.Scored) []byte {
	k := 0
	for _, row := range rows {
		k = max(k, len(row))
	}
	if k == 0 {
		return out
	}
	ids, logprobs := make([]int32, k*len(rows)), make([]float32, k*len(rows))
	for i := range rows {
		for j := range k {
			logprobs[i*k+j] = missing
			if j < len(rows[i]) {
				ids[i*k+j], logprobs[i*k+j] = rows[i][j].Token, rows[i][j].Logprob
			}
		}
	}
	top := appendBytes(appendBytes(nil, 1, int32Bytes(ids)), 2, float32Bytes(logprobs))
	top = appendVarint(appendVarint(top, 3, uint64(k)), 4, uint64(len(rows)))
	return appendBytes(out, number, top)
}
