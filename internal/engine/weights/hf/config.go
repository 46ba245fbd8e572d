package hf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"macaron/internal/canonical"
	"macaron/internal/errs"
)

// Config is a JSON object of settings: config.json and its kin. A field that holds null
// counts as missing, as in the library that writes these files. Getters return a
// FormatInvalid error that names the field when it is missing or holds another type.
// The zero Config is empty.
type Config struct {
	file   string // for messages
	fields map[string]json.RawMessage
}

// ParseConfig reads an object. Fields given twice, invalid UTF-8 and text after the
// object are refused; file names it in messages.
func ParseConfig(file string, raw []byte) (Config, error) {
	if _, err := canonical.JSON(raw); err != nil {
		return Config{}, errs.Wrap(errs.FormatInvalid, err, fmt.Sprintf("%s is not usable JSON: %s", file, errs.As(err).Message), "write the file again with a current library")
	}
	c := Config{file: file}
	if err := json.Unmarshal(raw, &c.fields); err != nil || c.fields == nil {
		return Config{}, bad("%s is no JSON object", file)
	}
	return c, nil
}

// Has tells whether a field is there and not null.
func (c Config) Has(field string) bool {
	raw, ok := c.fields[field]
	return ok && !bytes.Equal(raw, []byte("null"))
}

// Given tells whether a field is there, null or not.
func (c Config) Given(field string) bool {
	_, ok := c.fields[field]
	return ok
}

// get decodes a field into what to points at.
func (c Config) get(field, want string, to any) error {
	if !c.Has(field) {
		return errs.Newf(errs.FormatInvalid, "%s has no field %s", c.file, field).In(field)
	}
	if err := json.Unmarshal(c.fields[field], to); err != nil {
		return errs.Newf(errs.FormatInvalid, "the field %s of %s holds %s, not %s", field, c.file, errs.Clip(string(c.fields[field])), want).In(field)
	}
	return nil
}

// String is a text.
func (c Config) String(field string) (s string, err error) {
	return s, c.get(field, "a text", &s)
}

// StringOr is String, or def when the field is missing.
func (c Config) StringOr(field, def string) (string, error) {
	if !c.Has(field) {
		return def, nil
	}
	return c.String(field)
}

// Uint is an integer that is not negative.
func (c Config) Uint(field string) (n uint64, err error) {
	return n, c.get(field, "an integer that is not negative", &n)
}

// UintOr is Uint, or def when the field is missing.
func (c Config) UintOr(field string, def uint64) (uint64, error) {
	if !c.Has(field) {
		return def, nil
	}
	return c.Uint(field)
}

// Float is a number.
func (c Config) Float(field string) (f float64, err error) {
	return f, c.get(field, "a number", &f)
}

// FloatOr is Float, or def when the field is missing.
func (c Config) FloatOr(field string, def float64) (float64, error) {
	if !c.Has(field) {
		return def, nil
	}
	return c.Float(field)
}

// BoolOr is a boolean, or def when the field is missing.
func (c Config) BoolOr(field string, def bool) (b bool, err error) {
	if !c.Has(field) {
		return def, nil
	}
	return b, c.get(field, "true or false", &b)
}

// Strings is a list of texts.
func (c Config) Strings(field string) (list []string, err error) {
	return list, c.get(field, "a list of texts", &list)
}

// Ints is a list of integers that are not negative; one integer is a list too.
func (c Config) Ints(field string) ([]uint64, error) {
	if n, err := c.Uint(field); err == nil {
		return []uint64{n}, nil
	}
	var list []uint64
	return list, c.get(field, "an integer or a list of them", &list)
}

// Object is an object within this one.
func (c Config) Object(field string) (Config, error) {
	inner := Config{file: c.file + ", " + field}
	err := c.get(field, "an object", &inner.fields)
	return inner, err
}

// Raw is a field's JSON, nil for none.
func (c Config) Raw(field string) json.RawMessage {
	if !c.Has(field) {
		return nil
	}
	return c.fields[field]
}

// Neutral tells whether a field is missing or says "nothing of the kind": null, false, 0
// (or the number given), an empty text, list or object.
func (c Config) Neutral(field string, number float64) bool {
	raw := strings.TrimSpace(string(c.Raw(field)))
	switch raw {
	case "", "false", `""`, "[]", "{}":
		return true
	}
	f, err := strconv.ParseFloat(raw, 64)
	return err == nil && !errors.Is(err, strconv.ErrRange) && f == number
}

func bad(format string, args ...any) error { return errs.Newf(errs.FormatInvalid, format, args...) }
