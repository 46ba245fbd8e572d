package tinker

import (
	"bytes"
	"io"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"

	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/mint"
)

// Relay reads and writes bodies for whoever passes requests on to another server of this
// protocol, and turns those that one dialect has as protobuf into the JSON of another, and
// back. What is turned has the fields that this package knows; what is passed on as it is
// may have others.
type Relay struct{}

// Body reads the whole body of a request, decompressed; the request can be served afterwards
// as if nobody had read it. proto tells that it is protobuf.
func (Relay) Body(r *http.Request) (body []byte, proto bool, err error) {
	raw, err := limits.Bytes(r.Body, r.ContentLength, trainBytes)
	if err != nil {
		return nil, false, err
	}
	copied := r.Clone(r.Context())
	copied.Body = io.NopCloser(bytes.NewReader(raw))
	r.Body = io.NopCloser(bytes.NewReader(raw))
	c, err := read(copied, trainBytes, true)
	return c.bytes, c.proto, err
}

// Send answers with a body.
func (Relay) Send(w http.ResponseWriter, r *http.Request, status int, body []byte, proto bool) {
	kind := jsonType
	if proto {
		kind = protobuf
	}
	_ = send(w, r, status, body, kind) // a client that has left is no failure of ours
}

// WantsProto tells whether a client takes results as protobuf only.
func (Relay) WantsProto(r *http.Request) bool { return wantsProto(r) }

// Fail answers with an error.
func (Relay) Fail(w http.ResponseWriter, err error) { WriteError(w, err) }

// ModelOf reads which model the protobuf of forward_backward is for, and its number.
func (Relay) ModelOf(body []byte) (model string, seq int64, err error) {
	return model, seq, message("ForwardBackwardRequest", body, func(m field) error {
		switch m.number {
		case 1:
			return m.text(&model)
		case 2:
			return m.integer(&seq)
		}
		return nil
	})
}

// WithModel puts another model into the protobuf of forward_backward, all else as it is.
func (Relay) WithModel(body []byte, model string) ([]byte, error) {
	out := appendBytes(make([]byte, 0, len(body)+len(model)), 1, []byte(model))
	for len(body) > 0 {
		number, _, n := protowire.ConsumeField(body)
		if n < 0 {
			return nil, malformed("ForwardBackwardRequest", protowire.ParseError(n))
		}
		if number != 1 {
			out = append(out, body[:n]...)
		}
		body = body[n:]
	}
	return out, nil
}

// ForwardToJSON turns the protobuf of forward_backward into the JSON of forward_backward or,
// where only tells that nothing is to be added to gradients, of forward.
func (Relay) ForwardToJSON(body []byte) (text []byte, only bool, err error) {
	f, err := protoForward(body)
	if err != nil {
		return nil, false, err
	}
	return forwardJSON(f), f.Only, nil
}

// ForwardToProto turns the JSON of forward_backward, or of forward, into protobuf.
func (Relay) ForwardToProto(text []byte, only bool) ([]byte, error) {
	input := "forward_backward_input"
	if only {
		input = "forward_input"
	}
	f, err := jsonForward(text, input)
	if err != nil {
		return nil, err
	}
	return forwardProto(f), nil
}

// ResultToJSON turns the protobuf of a result into JSON.
func (Relay) ResultToJSON(op mint.Op, body []byte) ([]byte, error) {
	if op == mint.OpSample {
		s, err := samplesOfProto(body)
		if err != nil {
			return nil, notUnderstood(err)
		}
		return jsonSamples(s), nil
	}
	o, err := outputsOfProto(body)
	if err != nil {
		return nil, notUnderstood(err)
	}
	return o.json(), nil
}

// ResultToProto turns the JSON of a result into protobuf.
func (Relay) ResultToProto(op mint.Op, text []byte) ([]byte, error) {
	if op == mint.OpSample {
		s, err := samplesOfJSON(text)
		if err != nil {
			return nil, notUnderstood(err)
		}
		return protoSamples(s), nil
	}
	o, err := outputsOfJSON(text)
	if err != nil {
		return nil, notUnderstood(err)
	}
	return o.proto(), nil
}

func notUnderstood(err error) error {
	return errs.Wrap(errs.UpstreamFailed, err, "the result of the backend cannot be read", "look at the version of that server")
}
