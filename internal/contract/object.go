package contract

import (
	"bytes"
	"encoding/json"
	"errors"

	"macaron/internal/canonical"
	"macaron/internal/errs"
)

// Object is a JSON object inside a contract, such as a schema: written as a TOML table,
// or as a string of JSON where it has null, which TOML has not. Nil: absent.
type Object map[string]any

// UnmarshalText reads the form of a string.
func (o *Object) UnmarshalText(text []byte) error {
	text, err := canonical.JSON(text) // refuses what JSON decoders let pass
	if err != nil {
		return errors.New(errs.As(err).Message)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return dec.Decode((*map[string]any)(o))
}

// JSON gives the canonical text, nil where the object is absent.
func (o Object) JSON() json.RawMessage {
	if o == nil {
		return nil
	}
	b, err := canonical.Bytes(map[string]any(o))
	if err != nil {
		return nil // Parse has refused it
	}
	return b
}
