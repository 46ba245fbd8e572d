package tinker

import (
	"fmt"
	"math"

	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/mint"
	"macaron/internal/train"
)

// protoForward reads a ForwardBackwardRequest.
func protoForward(body []byte) (mint.Forward, error) {
	f := mint.Forward{Seq: mint.NoSeq}
	var seq int64
	zeros := newRoom()
	legacy, config := map[string]float64{}, map[string]float64{}
	err := message("ForwardBackwardRequest", body, func(m field) error {
		switch m.number {
		case 1:
			return m.text(&f.Model)
		case 2:
			return m.integer(&seq)
		case 3:
			return protoData(m, &f.Data, zeros)
		case 4:
			return m.text(&f.Loss.Name)
		case 5:
			return setting(m, legacy, func(v field, into *float64) error { return v.double(into) })
		case 6:
			return m.flag(&f.Only)
		case 7:
			return setting(m, config, configValue)
		}
		return m.unknown()
	})
	if f.Seq = seq; seq < 1 {
		f.Seq = mint.NoSeq
	}
	if err != nil {
		return f, err
	}
	if len(config) == 0 {
		config = legacy
	}
	if len(config) > 0 {
		f.Loss.Config = config
	}
	return f, finishForward(&f, seq)
}

// finishForward checks the fields that JSON has checks of its own for. A number 0 is none.
func finishForward(f *mint.Forward, seq int64) error {
	if seq < 0 || seq > math.MaxInt32 {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("seq_id is %d", seq), "number operations 1, 2, 3, ...").In("seq_id")
	}
	if f.Model == "" || f.Loss.Name == "" {
		return errs.New(errs.InvalidRequest, "model_id or loss_fn is missing", "").In("model_id")
	}
	for name, x := range f.Loss.Config {
		if x-x != 0 {
			return wrongTensor("loss_fn_config."+errs.Clip(name), "is no finite number")
		}
	}
	return checkForward(*f)
}

func setting(m field, into map[string]float64, read func(field, *float64) error) error {
	var x float64
	name, err := m.entry(func(v field) error { return read(v, &x) })
	into[name] = x
	if len(into) > configCount {
		return wrongTensor("loss_fn_config", fmt.Sprintf("has more than %d settings", configCount))
	}
	return err
}

// configValue reads a LossConfigValue. A text is a setting of losses that are not run here.
func configValue(m field, into *float64) error {
	return m.message("LossConfigValue", func(v field) error {
		switch v.number {
		case 1:
			return v.double(into)
		case 2:
			return errs.New(errs.Unsupported, "a setting of the loss is a text; the losses that are run here have numbers only", "").In("loss_fn_config")
		}
		return v.unknown()
	})
}

func protoData(m field, into *[]train.Datum, zeros *room) error {
	name := fmt.Sprintf("data[%d]", len(*into))
	if len(*into) == dataCount {
		return errs.New(errs.TooLarge, fmt.Sprintf("there are more than %d data", dataCount), "send them in several parts").In("data")
	}
	d := train.Datum{Inputs: map[string]train.Tensor{}}
	err := m.message(name, func(p field) error {
		switch p.number {
		case 1:
			return protoChunk(p, &d.Tokens)
		case 2:
			return protoInput(p, d.Inputs, zeros)
		case 3:
			return protoSpan(p, &d.From.Input)
		case 4:
			return protoSpan(p, &d.From.Targets)
		}
		return p.unknown()
	})
	if err != nil {
		return err
	}
	*into = append(*into, d)
	return checkDatum(name, d)
}

// protoChunk reads a Chunk. Image and audio are of models that are not here.
func protoChunk(m field, into *[]int32) error {
	return m.message(m.of+".model_input", func(c field) error {
		switch c.number {
		case 1:
			return c.message(c.of, func(t field) error { return protoTokens(t, into) })
		case 2:
			return otherChunk(c.of, "image")
		case 3:
			return otherChunk(c.of, "dmel")
		}
		return c.unknown()
	})
}

func protoTokens(t field, into *[]int32) error {
	if t.number != 1 {
		return t.unknown()
	}
	var b []byte
	if err := t.data(&b); err != nil {
		return err
	}
	values, err := binaryValues(t.of, b, int32s)
	if err != nil {
		return err
	}
	for i, n := range values.Ints {
		if n < 0 {
			return wrongTensor(t.of, fmt.Sprintf("has the token %d at %d", n, i))
		}
		*into = append(*into, int32(n))
	}
	return nil
}

func protoInput(m field, into map[string]train.Tensor, zeros *room) error {
	var b []byte
	name, err := m.entry(func(v field) error { return v.data(&b) })
	if err != nil {
		return err
	}
	t, err := protoTensor(m.of+".loss_fn_inputs."+errs.Clip(name), b, usual(name), zeros)
	if err != nil {
		return err
	}
	if into[name] = t; len(into) > inputCount {
		return wrongTensor(m.of+".loss_fn_inputs", fmt.Sprintf("has more than %d tensors", inputCount))
	}
	return nil
}

func protoSpan(m field, into *[]train.Origin) error {
	if len(*into) == spanCount {
		return wrongTensor(m.of, fmt.Sprintf("has more than %d origins of tokens", spanCount))
	}
	var s train.Origin
	err := m.message(m.of+".span", func(kind field) error {
		s = train.Origin{Sampled: kind.number == 2}
		if kind.number != 1 && kind.number != 2 {
			return kind.unknown()
		}
		return kind.message(kind.of, func(f field) error { return protoOrigin(f, &s) })
	})
	if err == nil && (s.Sequence == "" || len(s.Sequence) > limits.NameBytes || s.Offset < 0 || s.Offset > math.MaxInt32 || s.Length < 0 || s.Length > math.MaxInt32) {
		err = wrongTensor(m.of, fmt.Sprintf("has an origin of %d tokens from %d that names no sequence or is out of range", s.Length, s.Offset))
	}
	*into = append(*into, s)
	return err
}

func protoOrigin(f field, s *train.Origin) error {
	switch f.number {
	case 1:
		return f.text(&s.Sequence)
	case 2:
		return f.integer(&s.Offset)
	case 3:
		return f.integer(&s.Length)
	}
	return f.unknown()
}
