package tinker

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"macaron/internal/jsonscan"
	"macaron/internal/mint"
	"macaron/internal/train"
)

// forwardJSON writes {<input>: {data, loss_fn, loss_fn_config}, model_id, seq_id}.
func forwardJSON(f mint.Forward) []byte {
	input := `{"forward_backward_input":{"data":`
	if f.Only {
		input = `{"forward_input":{"data":`
	}
	out := list([]byte(input), f.Data, appendDatumJSON)
	out = jsonscan.Quote(append(out, `,"loss_fn":`...), f.Loss.Name)
	if f.Loss.Config != nil {
		out = jsonMetrics(append(out, `,"loss_fn_config":`...), f.Loss.Config)
	}
	out = jsonscan.Quote(append(out, `},"model_id":`...), f.Model)
	if f.Seq > 0 {
		out = strconv.AppendInt(append(out, `,"seq_id":`...), f.Seq, 10)
	}
	return append(out, '}')
}

func appendDatumJSON(out []byte, d train.Datum) []byte {
	out = append(out, `{"model_input":{"chunks":[{"type":"encoded_text","tokens":`...)
	out = list(out, d.Tokens, func(out []byte, n int32) []byte { return strconv.AppendInt(out, int64(n), 10) })
	out = appendTensorsJSON(append(out, `}]},"loss_fn_inputs":`...), d.Inputs)
	if d.From.Input != nil {
		out = list(append(out, `,"model_input_spans":`...), d.From.Input, appendOriginJSON)
	}
	if d.From.Targets != nil {
		out = list(append(out, `,"loss_fn_input_spans":`...), d.From.Targets, appendOriginJSON)
	}
	return append(out, '}')
}

func appendOriginJSON(out []byte, o train.Origin) []byte {
	kind := `{"type":"prompt_tokens","sequence_id":`
	if o.Sampled {
		kind = `{"type":"sampled_tokens","sequence_id":`
	}
	out = jsonscan.Quote(append(out, kind...), o.Sequence)
	out = appendInt(append(out, `,"offset":`...), o.Offset)
	return append(appendInt(append(out, `,"length":`...), o.Length), '}')
}

// appendTensorsJSON writes tensors by name.
func appendTensorsJSON(out []byte, all map[string]train.Tensor) []byte {
	out = append(out, '{')
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if i > 0 {
			out = append(out, ',')
		}
		t := all[name]
		out = append(jsonscan.Quote(out, name), `:{"data":`...)
		kind := `,"dtype":"float32","shape":`
		if t.Ints != nil {
			kind = `,"dtype":"int64","shape":`
			out = list(out, t.Ints, appendInt)
		} else {
			out = list(out, t.Floats, appendFloat)
		}
		out = append(list(append(out, kind...), shapeOf(t), appendInt), '}')
	}
	return append(out, '}')
}

func appendInt(out []byte, n int64) []byte { return strconv.AppendInt(out, n, 10) }

// shapeOf is the shape of a tensor, of one axis where it does not tell.
func shapeOf(t train.Tensor) []int64 {
	if len(t.Shape) == 0 {
		return []int64{int64(len(t.Floats) + len(t.Ints))}
	}
	return t.Shape
}

// forwardProto writes a ForwardBackwardRequest.
func forwardProto(f mint.Forward) []byte {
	out := appendBytes(nil, 1, []byte(f.Model))
	if f.Seq > 0 {
		out = appendVarint(out, 2, uint64(f.Seq))
	}
	for _, d := range f.Data {
		chunk := appendBytes(nil, 1, appendBytes(nil, 1, int32Bytes(d.Tokens)))
		datum := appendBytes(nil, 1, chunk)
		for _, name := range slices.Sorted(maps.Keys(d.Inputs)) {
			datum = appendBytes(datum, 2, appendBytes(appendBytes(nil, 1, []byte(name)), 2, tensorBody(d.Inputs[name])))
		}
		datum = appendOrigins(datum, 3, d.From.Input)
		out = appendBytes(out, 3, appendOrigins(datum, 4, d.From.Targets))
	}
	out = appendBytes(out, 4, []byte(f.Loss.Name))
	for _, name := range slices.Sorted(maps.Keys(f.Loss.Config)) { // in both fields, as the SDK writes them
		number := protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), math.Float64bits(f.Loss.Config[name]))
		legacy := append(appendBytes(nil, 1, []byte(name)), protowire.AppendFixed64(protowire.AppendTag(nil, 2, protowire.Fixed64Type), math.Float64bits(f.Loss.Config[name]))...)
		out = appendBytes(out, 5, legacy)
		out = appendBytes(out, 7, appendBytes(appendBytes(nil, 1, []byte(name)), 2, number))
	}
	if f.Only {
		out = appendVarint(out, 6, 1)
	}
	return out
}

// appendOrigins writes ProvenanceSpans.
func appendOrigins(out []byte, number protowire.Number, all []train.Origin) []byte {
	for _, o := range all {
		kind := protowire.Number(1)
		if o.Sampled {
			kind = 2
		}
		span := appendVarint(appendVarint(appendBytes(nil, 1, []byte(o.Sequence)), 2, uint64(o.Offset)), 3, uint64(o.Length))
		out = appendBytes(out, number, appendBytes(nil, kind, span))
	}
	return out
}

// tensorBody writes a dense Tensor.
func tensorBody(t train.Tensor) []byte {
	values, kind := float32Bytes(t.Floats), float32s
	if t.Ints != nil {
		values, kind = int64Bytes(t.Ints), int64s
	}
	return append(appendVarint(appendBytes(nil, 1, values), 3, uint64(kind)), packed(4, shapeOf(t))...)
}

func int64Bytes(values []int64) []byte {
	out := make([]byte, 0, 8*len(values))
	for _, n := range values {
		out = binary.LittleEndian.AppendUint64(out, uint64(n))
	}
	return out
}
