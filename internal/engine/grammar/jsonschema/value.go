// Package jsonschema reads JSON Schemas of draft 2020-12 into networks that take the
// documents they allow. What it cannot keep to exactly it refuses, with the JSON pointer
// of the keyword. Members stand in a fixed order: those that "properties" declares in
// its order, then those that only "required" names, then all others.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"macaron/internal/errs"
)

// value is a JSON value whose members keep their order.
type value struct {
	kind    kind
	text    string // of a string; a number as it stands
	bool    bool
	items   []*value
	members []member
	index   map[string]int // of members
	path    string         // JSON pointer in the document
}

type member struct {
	name  string
	value *value
}

// kind is a bit: sets of kinds are sums.
type kind uint8

const (
	isNull kind = 1 << iota
	isBool
	isInteger // a number without fraction
	isFraction
	isString
	isArray
	isObject
	isNumber = isInteger | isFraction
	isAny    = 1<<7 - 1
)

const (
	maxBytes  = 256 << 10
	maxDepth  = 128
	maxDigits = 330 // of a number, and of its exponent's value; those of a double have up to 309
)

// parse reads a document. Repeated names are refused.
func parse(raw []byte) (*value, error) {
	if len(raw) > maxBytes {
		return nil, errs.Newf(errs.TooLarge, "the schema has %d bytes; %d are allowed", len(raw), maxBytes)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := read(d, "", 0)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return v, nil
		}
		err = errors.New("more follows its end")
	}
	if errs.CodeOf(err) != errs.Internal {
		return nil, err
	}
	return nil, errs.New(errs.InvalidRequest, "the schema is not JSON: "+err.Error(), "")
}

func read(d *json.Decoder, path string, depth int) (*value, error) {
	if depth > maxDepth {
		return nil, errs.Newf(errs.TooLarge, "the schema is nested deeper than %d", maxDepth)
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	v := &value{path: path}
	switch t := t.(type) {
	case nil:
		v.kind = isNull
	case bool:
		v.kind, v.bool = isBool, t
	case string:
		v.kind, v.text = isString, t
	case json.Number:
		v.text = t.String()
		return v, v.number()
	case json.Delim:
		if t == '[' {
			v.kind = isArray
			return v, v.readItems(d, depth)
		}
		v.kind = isObject
		return v, v.readMembers(d, depth)
	}
	return v, nil
}

func (v *value) readItems(d *json.Decoder, depth int) error {
	for d.More() {
		e, err := read(d, fmt.Sprintf("%s/%d", v.path, len(v.items)), depth+1)
		if err != nil {
			return err
		}
		v.items = append(v.items, e)
	}
	_, err := d.Token()
	return err
}

func (v *value) readMembers(d *json.Decoder, depth int) error {
	v.index = map[string]int{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name := t.(string) // a decoder gives nothing else there
		if v.get(name) != nil {
			return errs.Newf(errs.InvalidRequest, "the schema has %q twice at %s", name, at(v.path))
		}
		e, err := read(d, v.path+"/"+escape(name), depth+1)
		if err != nil {
			return err
		}
		v.index[name] = len(v.members)
		v.members = append(v.members, member{name, e})
	}
	_, err := d.Token()
	return err
}

// number sets the kind of a number.
func (v *value) number() error {
	v.kind = isFraction
	r, err := v.rat()
	if err == nil && r.IsInt() {
		v.kind = isInteger
	}
	return err
}

// rat is the number, exactly.
func (v *value) rat() (*big.Rat, error) {
	_, exp, _ := strings.Cut(strings.ToLower(v.text), "e")
	if n, err := strconv.Atoi(exp); exp != "" && (err != nil || max(n, -n) > maxDigits) || len(v.text) > maxDigits {
		return nil, errs.Newf(errs.TooLarge, "the number at %s is too large or too exact", at(v.path))
	}
	r, ok := new(big.Rat).SetString(v.text)
	if !ok {
		return nil, errs.Newf(errs.InvalidRequest, "the number at %s cannot be read", at(v.path))
	}
	return r, nil
}

func (v *value) get(name string) *value {
	if i, ok := v.index[name]; ok {
		return v.members[i].value
	}
	return nil
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

func escape(name string) string { return escaper.Replace(name) }

// at names a place for people.
func at(path string) string { return "#" + path }

// equal compares values as JSON Schema does: numbers by value, members in any order.
func equal(a, b *value) bool {
	if a.kind != b.kind || len(a.items) != len(b.items) || len(a.members) != len(b.members) {
		return false
	}
	if a.kind&isNumber != 0 {
		x, _ := a.rat()
		y, _ := b.rat()
		return x.Cmp(y) == 0
	}
	for i := range a.items {
		if !equal(a.items[i], b.items[i]) {
			return false
		}
	}
	for _, m := range a.members {
		if o := b.get(m.name); o == nil || !equal(m.value, o) {
			return false
		}
	}
	return a.text == b.text && a.bool == b.bool
}
