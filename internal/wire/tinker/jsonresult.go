package tinker

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"macaron/internal/jsonscan"
	"macaron/internal/mint"
	"macaron/internal/train"
)

// jsonOutput writes a ForwardBackwardOutput.
func jsonOutput(o *train.Output) []byte {
	out := append([]byte(`{"loss_fn_output_type":`), jsonscan.Quote(nil, recordType)...)
	out = append(out, `,"loss_fn_outputs":[`...)
	for i, t := range o.Logprobs {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"logprobs":{"data":`...)
		out = list(out, t.Floats, appendFloat)
		out = append(out, `,"dtype":"float32","shape":`...)
		out = list(out, t.Shape, func(out []byte, n int64) []byte { return strconv.AppendInt(out, n, 10) })
		out = append(out, `}}`...)
	}
	out = append(out, `],"metrics":`...)
	return append(jsonMetrics(out, o.Metrics), '}')
}

func jsonMetrics(out []byte, metrics map[string]float64) []byte {
	out = append(out, '{')
	for i, name := range slices.Sorted(maps.Keys(metrics)) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jsonscan.Quote(out, name), ':')
		out = appendNumber(out, metrics[name], 64)
	}
	return append(out, '}')
}

// jsonSamples writes a SampleResponse. What was not computed in a prompt is null.
func jsonSamples(s *mint.Samples) []byte {
	out := append([]byte(`{"type":"sample","sequences":`), list(nil, s.Sequences, appendSequence)...)
	if s.PromptLogprobs != nil {
		out = list(append(out, `,"prompt_logprobs":`...), s.PromptLogprobs, appendFloat)
	}
	if s.PromptTop != nil {
		out = list(append(out, `,"topk_prompt_logprobs":`...), s.PromptTop, appendRow)
	}
	out = append(out, `,"prompt_cache_hit_tokens":`...)
	return append(strconv.AppendInt(out, int64(s.Cached), 10), '}')
}

func appendSequence(out []byte, q mint.Sequence) []byte {
	out = append(out, `{"stop_reason":`...)
	out = append(jsonscan.Quote(out, string(q.Stop)), `,"tokens":`...)
	out = list(out, q.Tokens, func(out []byte, n int32) []byte { return strconv.AppendInt(out, int64(n), 10) })
	if q.Logprobs != nil {
		out = list(append(out, `,"logprobs":`...), q.Logprobs, appendFloat)
	}
	if q.Top != nil {
		out = list(append(out, `,"topk_logprobs":`...), q.Top, appendRow)
	}
	return append(out, '}')
}

// appendRow writes alternatives as pairs; null where there are none.
func appendRow(out []byte, row []mint.Scored) []byte {
	if row == nil {
		return append(out, "null"...)
	}
	return list(out, row, func(out []byte, s mint.Scored) []byte {
		out = strconv.AppendInt(append(out, '['), int64(s.Token), 10)
		return append(appendFloat(append(out, ','), s.Logprob), ']')
	})
}

func list[T any](out []byte, values []T, each func([]byte, T) []byte) []byte {
	out = append(out, '[')
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = each(out, v)
	}
	return append(out, ']')
}

func appendFloat(out []byte, x float32) []byte { return appendNumber(out, float64(x), 32) }

// appendNumber writes the shortest text that reads back as the same number. JSON has neither
// NaN, for which null stands, nor infinities, for which the largest numbers do.
func appendNumber(out []byte, x float64, bits int) []byte {
	switch {
	case x != x:
		return append(out, "null"...)
	case math.IsInf(x, 0) && bits == 32:
		x = math.Copysign(math.MaxFloat32, x)
	case math.IsInf(x, 0):
		x = math.Copysign(math.MaxFloat64, x)
	}
	return strconv.AppendFloat(out, x, 'g', -1, bits)
}
