package tinker

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/mint"
	"macaron/internal/train"
)

// The bounds of one forward pass.
const (
	dataCount   = 8192
	chunkCount  = 1 << 16 // of one datum
	inputCount  = 16      // of one datum
	spanCount   = 1 << 16 // of one datum
	configCount = 32
)

// jsonForward reads {<input>: {data, loss_fn, loss_fn_config}, model_id, seq_id}.
func jsonForward(text []byte, input string) (mint.Forward, error) {
	o := objectOf("", text)
	f := mint.Forward{Model: o.id("model_id"), Seq: o.seq("seq_id", 1), Only: input == "forward_input"}
	o.need(input)
	in := o.object(input)
	f.Loss = jsonLoss(in)
	zeros := newRoom()
	for i, item := range in.list("data", dataCount) {
		d, err := jsonDatum(fmt.Sprintf("%s[%d]", in.path("data"), i), item, zeros)
		if err != nil {
			return f, err
		}
		f.Data = append(f.Data, d)
	}
	if err := in.close(); err != nil {
		return f, err
	}
	if err := o.close(); err != nil {
		return f, err
	}
	return f, checkForward(f)
}

func jsonLoss(in *object) train.Loss {
	l := train.Loss{Name: in.id("loss_fn")}
	config := in.object("loss_fn_config")
	if len(config.members) > configCount {
		in.fail(wrongTensor(config.field, fmt.Sprintf("has %d settings, more than %d", len(config.members), configCount)))
		return l
	}
	for _, name := range slices.Sorted(maps.Keys(config.members)) {
		if limits.Absent(config.members[name]) {
			continue
		}
		if l.Config == nil {
			l.Config = map[string]float64{}
		}
		l.Config[name] = config.number(name, 0, -math.MaxFloat64, math.MaxFloat64)
	}
	in.fail(config.err)
	return l
}

// checkForward refuses what no loss can make sense of.
func checkForward(f mint.Forward) error {
	if len(f.Data) == 0 {
		return errs.New(errs.InvalidRequest, "there is no data", "send at least one datum").In("data")
	}
	if f.Loss.Name == "custom" {
		return errs.New(errs.Unsupported, "losses that are written by a client are not run here", "use forward_backward_custom, which computes them in the client").In("loss_fn")
	}
	return nil
}

func jsonDatum(field string, text json.RawMessage, zeros *room) (train.Datum, error) {
	o := objectOf(field, text)
	o.need("model_input")
	d := train.Datum{Tokens: o.modelInput("model_input"), Inputs: map[string]train.Tensor{}}
	in := o.object("loss_fn_inputs")
	if len(in.members) > inputCount {
		return d, wrongTensor(in.field, fmt.Sprintf("has %d tensors, more than %d", len(in.members), inputCount))
	}
	for _, name := range slices.Sorted(maps.Keys(in.members)) {
		t, err := jsonTensor(in.path(errs.Clip(name)), in.members[name], zeros)
		if err != nil {
			return d, err
		}
		d.Inputs[name] = t
	}
	d.From = train.Origins{Input: o.spans("model_input_spans"), Targets: o.spans("loss_fn_input_spans")}
	if err := o.close(); err != nil {
		return d, err
	}
	return d, checkDatum(field, d)
}

// modelInput joins the tokens of {chunks: [{type, tokens}]}; older clients leave type out.
func (o *object) modelInput(name string) []int32 {
	in := o.object(name)
	tokens := []int32{}
	for i, item := range in.list("chunks", chunkCount) {
		c := objectOf(fmt.Sprintf("%s[%d]", in.path("chunks"), i), item)
		if kind := c.name("type"); kind != "" && kind != "encoded_text" {
			c.fail(otherChunk(c.path("type"), kind))
		}
		c.need("tokens")
		tokens = append(tokens, c.tokens("tokens")...)
		in.fail(c.close())
	}
	o.fail(in.close())
	return tokens
}

func otherChunk(field, kind string) error {
	return errs.New(errs.Unsupported, "the model does not take "+errs.Clip(kind)+" as input", "send chunks of the type encoded_text").In(field)
}

// spans reads the origins of tokens as their SDK types have them in JSON.
func (o *object) spans(name string) []train.Origin {
	var out []train.Origin
	for i, item := range o.list(name, spanCount) {
		s := objectOf(fmt.Sprintf("%s[%d]", o.path(name), i), item)
		out = append(out, train.Origin{Sequence: s.id("sequence_id"), Offset: s.whole("offset", 0, 0, math.MaxInt32), Length: s.whole("length", 0, 0, math.MaxInt32),
			Sampled: strings.Contains(s.name("type"), "sampled")})
		o.fail(s.close())
	}
	return out
}

// checkDatum refuses a datum without tokens, and origins that do not cover what they are of.
func checkDatum(field string, d train.Datum) error {
	if len(d.Tokens) == 0 {
		return errs.New(errs.InvalidRequest, field+" has no tokens", "leave empty data out").In(field)
	}
	if err := tiling(field+".model_input_spans", d.From.Input, int64(len(d.Tokens))); err != nil {
		return err
	}
	n := int64(len(d.Tokens))
	if t := d.Inputs["target_tokens"]; len(t.Shape) > 0 {
		n = t.Shape[0]
	}
	return tiling(field+".loss_fn_input_spans", d.From.Targets, n)
}

func tiling(field string, spans []train.Origin, n int64) error {
	total := int64(0)
	for _, s := range spans {
		total += s.Length
	}
	if spans == nil || total == n {
		return nil
	}
	return errs.New(errs.InvalidRequest, fmt.Sprintf("%s cover %d positions of %d", field, total, n), "let them cover each position once").In(field)
}
