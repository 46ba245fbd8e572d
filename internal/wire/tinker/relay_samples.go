package tinker

import (
	"encoding/json"
	"fmt"
	"math"

	"macaron/internal/mint"
	"macaron/internal/train"
)

// pairs are alternatives as JSON has them: null, or [[token, log probability], ...].
type pairs []([2]json.Number)

func (p pairs) scored() (row []mint.Scored, err error) {
	if p == nil {
		return nil, nil
	}
	row = []mint.Scored{}
	for _, x := range p {
		token, err := x[0].Int64()
		if err != nil {
			return nil, err
		}
		logprob, err := x[1].Float64()
		if err != nil {
			return nil, err
		}
		row = append(row, mint.Scored{Token: int32(token), Logprob: float32(logprob)})
	}
	return row, nil
}

func scoredRows(all []pairs) (rows [][]mint.Scored, err error) {
	for _, p := range all {
		row, err := p.scored()
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func floatsOrNaN(all []*float32) (out []float32) {
	if all == nil {
		return nil
	}
	out = make([]float32, len(all))
	for i, x := range all {
		if out[i] = float32(math.NaN()); x != nil {
			out[i] = *x
		}
	}
	return out
}

// samplesOfJSON reads a SampleResponse.
func samplesOfJSON(text []byte) (*mint.Samples, error) {
	var v struct {
		Sequences []struct {
			Stop     mint.StopReason `json:"stop_reason"`
			Tokens   []int32         `json:"tokens"`
			Logprobs []*float32      `json:"logprobs"`
			Top      []pairs         `json:"topk_logprobs"`
		} `json:"sequences"`
		Prompt []*float32 `json:"prompt_logprobs"`
		Top    []pairs    `json:"topk_prompt_logprobs"`
		Cached int        `json:"prompt_cache_hit_tokens"`
	}
	err := json.Unmarshal(text, &v)
	if err != nil {
		return nil, err
	}
	s := &mint.Samples{PromptLogprobs: floatsOrNaN(v.Prompt), Cached: max(v.Cached, 0)}
	if s.PromptTop, err = scoredRows(v.Top); err != nil {
		return nil, err
	}
	for _, q := range v.Sequences {
		top, err := scoredRows(q.Top)
		if err != nil {
			return nil, err
		}
		s.Sequences = append(s.Sequences, mint.Sequence{Stop: q.Stop, Tokens: q.Tokens, Logprobs: floatsOrNaN(q.Logprobs), Top: top})
	}
	return s, nil
}

// samplesOfProto reads a SampleResponse.
func samplesOfProto(body []byte) (*mint.Samples, error) {
	s := &mint.Samples{}
	return s, message("SampleResponse", body, func(m field) (err error) {
		switch m.number {
		case 1:
			return sequenceOfProto(m, s)
		case 2:
			s.PromptLogprobs, err = floatsOfProto(m)
		case 3:
			s.PromptTop, err = topOfProto(m)
		case 4:
			var n int64
			err = m.integer(&n)
			s.Cached = int(min(max(n, 0), math.MaxInt32))
		case 5:
			var b []byte
			if err = m.data(&b); err == nil {
				var t train.Tensor
				t, err = protoTensor("target_prompt_logprobs", b, float32s, newRoom())
				s.Targets = &t
			}
		}
		return err
	})
}

func floatsOfProto(m field) ([]float32, error) {
	var b []byte
	if err := m.data(&b); err != nil {
		return nil, err
	}
	t, err := binaryValues(m.of, b, float32s)
	return t.Floats, err
}

func tokensOfProto(m field) (out []int32, err error) {
	var b []byte
	if err := m.data(&b); err != nil {
		return nil, err
	}
	t, err := binaryValues(m.of, b, int32s)
	out = make([]int32, len(t.Ints))
	for i, n := range t.Ints {
		out[i] = int32(n)
	}
	return out, err
}

func sequenceOfProto(m field, s *mint.Samples) error {
	q := mint.Sequence{Stop: mint.Stopped, Tokens: []int32{}}
	err := m.message("SampledSequence", func(f field) (err error) {
		switch f.number {
		case 1:
			var n int64
			if err = f.integer(&n); n == 1 {
				q.Stop = mint.Length
			}
		case 2:
			q.Tokens, err = tokensOfProto(f)
		case 3:
			q.Logprobs, err = floatsOfProto(f)
		case 4:
			q.Top, err = topOfProto(f)
		}
		return err
	})
	s.Sequences = append(s.Sequences, q)
	return err
}

// topOfProto reads TopkLogprobs; a row without alternatives is nil.
func topOfProto(m field) ([][]mint.Scored, error) {
	var tokens []int32
	var logprobs []float32
	var k, length int64
	err := m.message("TopkLogprobs", func(f field) (err error) {
		switch f.number {
		case 1:
			tokens, err = tokensOfProto(f)
		case 2:
			logprobs, err = floatsOfProto(f)
		case 3:
			err = f.integer(&k)
		case 4:
			err = f.integer(&length)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	n := int64(len(tokens))
	if k < 0 || length < 0 || k > n || length > n || k*length != n || n != int64(len(logprobs)) {
		return nil, fmt.Errorf("%d alternatives with %d log probabilities in %d rows of %d", n, len(logprobs), length, k)
	}
	rows := make([][]mint.Scored, length)
	for i, token := range tokens {
		if logprobs[i] != missing {
			rows[int64(i)/k] = append(rows[int64(i)/k], mint.Scored{Token: token, Logprob: logprobs[i]})
		}
	}
	return rows, nil
}
