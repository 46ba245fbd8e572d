// Package canonical gives a value one byte form, so that its SHA-256 can name it.
// Contracts, adapter revisions, releases and message identities are hashed over
// these bytes. The form is docs/formats/canonical.md: JSON with sorted keys, no
// insignificant space, shortest numbers and UTF-8 as it is. Pure.
package canonical

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

// MaxDepth is how deep arrays and objects may nest.
const MaxDepth = 512

// Bytes returns the canonical bytes of a Go value, by way of its JSON form. NaN,
// infinities and what JSON cannot say are refused.
func Bytes(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, invalid("a value has no canonical form", err)
	}
	return JSON(buf.Bytes())
}

// JSON returns the canonical bytes of a JSON text. Invalid UTF-8, a key given
// twice, a number out of range and text after the value are refused.
func JSON(text []byte) ([]byte, error) {
	if !utf8.Valid(text) {
		return nil, invalid("JSON is not valid UTF-8", nil)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	out, err := value(dec, make([]byte, 0, len(text)), 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err == nil || dec.InputOffset() < int64(len(bytes.TrimRight(text, " \t\r\n"))) {
		return nil, invalid("JSON goes on after its value", nil)
	}
	return out, nil
}

// Hash names a value by the SHA-256 of its canonical bytes.
func Hash(v any) (ids.Digest, error) {
	b, err := Bytes(v)
	if err != nil {
		return "", err
	}
	return ids.DigestOf(b), nil
}

// value appends the next value of dec to out.
func value(dec *json.Decoder, out []byte, depth int) ([]byte, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, invalid("not JSON", err)
	}
	switch t := tok.(type) {
	case json.Delim:
		if depth >= MaxDepth {
			return nil, invalid(fmt.Sprintf("JSON nests deeper than %d", MaxDepth), nil)
		}
		if t == '[' {
			return array(dec, out, depth+1)
		}
		return object(dec, out, depth+1)
	case string:
		return appendString(out, t), nil
	case json.Number:
		return appendNumber(out, t.String())
	case bool:
		return fmt.Appendf(out, "%t", t), nil
	}
	return append(out, "null"...), nil
}

func array(dec *json.Decoder, out []byte, depth int) ([]byte, error) {
	var err error
	out = append(out, '[')
	for first := true; dec.More(); first = false {
		if !first {
			out = append(out, ',')
		}
		if out, err = value(dec, out, depth); err != nil {
			return nil, err
		}
	}
	return closing(dec, out, ']')
}

type member struct {
	key   string
	value []byte
}

func object(dec *json.Decoder, out []byte, depth int) ([]byte, error) {
	var members []member
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, invalid("not JSON", err)
		}
		key, ok := tok.(string)
		if !ok {
			return nil, invalid("not JSON: a key is not a string", nil)
		}
		v, err := value(dec, nil, depth)
		if err != nil {
			return nil, err
		}
		members = append(members, member{key, v})
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.key, b.key) })
	out = append(out, '{')
	for i, m := range members {
		if i > 0 {
			if m.key == members[i-1].key {
				return nil, invalid("JSON gives a key twice: "+errs.Clip(m.key), nil)
			}
			out = append(out, ',')
		}
		out = append(append(appendString(out, m.key), ':'), m.value...)
	}
	return closing(dec, out, '}')
}

func closing(dec *json.Decoder, out []byte, end byte) ([]byte, error) {
	if _, err := dec.Token(); err != nil {
		return nil, invalid("not JSON", err)
	}
	return append(out, end), nil
}

func invalid(message string, err error) error {
	return &errs.Error{Code: errs.FormatInvalid, Message: message, Err: err}
}
