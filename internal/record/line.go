package record

import (
	"bytes"
	"encoding/json"

	"macaron/internal/errs"
)

// line is a record as it is exported: one JSON object.
type line struct {
	Head
	Blob []byte          `json:"blob,omitempty"` // base64 of the log's own bytes: JSON has no infinity
	Kind Kind            `json:"kind"`
	Body json.RawMessage `json:"body"`
}

// EncodeLine gives a record as one JSON object, without a line's end.
func EncodeLine(r Record) ([]byte, error) {
	out := line{Head: r.Head, Kind: r.Body.Kind()}
	var err error
	if r.Blob != nil {
		if out.Blob, err = r.Blob.Encode(); err != nil {
			return nil, err
		}
	}
	if out.Body, err = EncodeBody(r.Body); err != nil {
		return nil, err
	}
	return encode(out)
}

// DecodeLine reads what EncodeLine wrote.
func DecodeLine(text []byte) (r Record, err error) {
	var in line
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return r, errs.Wrap(errs.FormatInvalid, err, "a line is no exported record", "export it again")
	}
	r.Head = in.Head
	if in.Blob != nil {
		if r.Head.Blob, err = DecodeBlob(in.Blob); err != nil {
			return r, err
		}
	}
	r.Body, err = DecodeBody(in.Kind, in.Body)
	return r, err
}
