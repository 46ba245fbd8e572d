// Package limits bounds everything that comes from outside, in one room, before
// anything is queued: bodies, lists, texts, every number. Each refusal names the
// field and says what is allowed.
package limits

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/jsonscan"
)

// The sizes. They are far above what conversations need and far below what could
// hurt the machine.
const (
	BodyBytes    = 8 << 20 // of a request
	HeaderCount  = 128
	MessageCount = 4096
	TextBytes    = 4 << 20 // of one message
	PartCount    = 256     // of one message
	ToolCount    = 128
	ToolBytes    = 64 << 10  // of one tool's schema
	ToolsBytes   = 512 << 10 // of all tools
	CallCount    = 128       // tool calls of one message
	StopCount    = 16
	StopBytes    = 256
	NameBytes    = 256 // model, user, tool call ids
	SchemaBytes  = 128 << 10
	Depth        = 64 // of nested JSON
	OutputTokens = 1 << 20
	TopLogprobs  = 20
	Metadata     = 16  // entries
	MetadataText = 512 // bytes of one value
)

// Body reads a whole body of at most BodyBytes. One that announces more, as an HTTP
// Content-Length does, is refused unread; -1 announces nothing.
func Body(r io.Reader, announced int64) ([]byte, error) {
	return TextBody(r, announced, BodyBytes)
}

// TextBody is Body with another bound.
func TextBody(r io.Reader, announced, most int64) ([]byte, error) {
	b, err := Bytes(r, announced, most)
	if err != nil {
		return nil, err
	}
	if at := notUTF8(b); at >= 0 { // else the reader of JSON would change the text without a word
		return nil, errs.New(errs.InvalidRequest, fmt.Sprintf("the request body is not UTF-8 at byte %d", at), "encode it as UTF-8")
	}
	return b, nil
}

// Bytes is TextBody for what is no text.
func Bytes(r io.Reader, announced, most int64) ([]byte, error) {
	if announced > most {
		return nil, largeBody(most)
	}
	buf := bytes.NewBuffer(make([]byte, 0, max(announced, 0)+bytes.MinRead))
	_, err := buf.ReadFrom(io.LimitReader(r, most+1))
	b := buf.Bytes()
	if code := errs.CodeOf(err); err != nil && (code == errs.TooLarge || code == errs.InvalidRequest) {
		return nil, err // of the content: sent again, it would be the same
	}
	if err != nil {
		return nil, errs.Wrap(errs.InvalidRequest, err, "the request body did not arrive whole", "send it again")
	}
	if int64(len(b)) > most {
		return nil, largeBody(most)
	}
	return b, nil
}

func largeBody(most int64) error {
	return errs.New(errs.TooLarge, fmt.Sprintf("the request body is larger than %d bytes", most), "send less at once")
}

// ContentType refuses bodies that say they are something else than JSON. An absent
// type is refused too: a form of another site can send one without being asked.
func ContentType(header string) error {
	kind, _, _ := strings.Cut(header, ";")
	if strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return nil
	}
	return errs.New(errs.InvalidRequest, fmt.Sprintf("the content type %q is not application/json", errs.Clip(header)), "send the header Content-Type: application/json").In("content-type")
}

// Object reads a JSON object's members by name. Names are case-sensitive; a name
// that stands twice is refused, since two readers could disagree on it.
func Object(field string, raw []byte) (map[string]json.RawMessage, error) {
	if found, ok := jsonscan.Object(raw); ok {
		return named(field, found)
	}
	if err := depth(raw); err != nil {
		return nil, err.In(field)
	}
	if err := json.Unmarshal(raw, new(json.RawMessage)); err != nil { // the only reader that gives the place
		return nil, malformed(field, raw, err, "valid JSON")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, malformed(field, raw, err, "a JSON object")
	}
	members := map[string]json.RawMessage{}
	for dec.More() {
		var value json.RawMessage
		key, err := dec.Token()
		name, _ := key.(string) // the decoder allows nothing else here
		if err = errors.Join(err, dec.Decode(&value)); err != nil {
			return nil, malformed(join(field, name), raw, err, "valid JSON")
		}
		if _, twice := members[name]; twice {
			return nil, errs.Newf(errs.InvalidRequest, "the field %s stands twice", join(field, name)).In(join(field, name))
		}
		members[name] = value
	}
	return members, nil
}

// named gives the members by name.
func named(field string, found []jsonscan.Member) (map[string]json.RawMessage, error) {
	members := make(map[string]json.RawMessage, len(found))
	for _, m := range found {
		if _, twice := members[m.Key]; twice {
			return nil, errs.Newf(errs.InvalidRequest, "the field %s stands twice", join(field, m.Key)).In(join(field, m.Key))
		}
		members[m.Key] = m.Value
	}
	return members, nil
}

// List reads a JSON array of at most n items.
func List(field string, raw json.RawMessage, n int) ([]json.RawMessage, error) {
	var items []json.RawMessage
	if found, ok := jsonscan.Array(raw); ok {
		items = make([]json.RawMessage, len(found))
		for i, item := range found {
			items[i] = item
		}
	} else if err := json.Unmarshal(raw, &items); err != nil || null(raw) {
		return nil, wrong(field, raw, "a list")
	}
	if len(items) > n {
		return nil, errs.New(errs.TooLarge, fmt.Sprintf("%s has %d items, more than %d", field, len(items), n), "send fewer").In(field)
	}
	return items, nil
}

// Text reads a JSON string of at most n bytes.
func Text(field string, raw json.RawMessage, n int) (string, error) {
	s, ok := jsonscan.String(raw)
	if !ok && json.Unmarshal(raw, &s) != nil || null(raw) {
		return "", wrong(field, raw, "a string")
	}
	if len(s) > n {
		return "", errs.New(errs.TooLarge, fmt.Sprintf("%s has %d bytes, more than %d", field, len(s), n), "send a shorter one").In(field)
	}
	return s, nil
}

// Bool reads true or false.
func Bool(field string, raw json.RawMessage) (bool, error) {
	var b bool
	if err := json.Unmarshal(raw, &b); err != nil || null(raw) {
		return false, wrong(field, raw, "true or false")
	}
	return b, nil
}

// Number reads a finite JSON number from low to high.
func Number(field string, raw json.RawMessage, low, high float64) (*float64, error) {
	x, err := strconv.ParseFloat(string(raw), 64)
	if !isNumber(raw) || err != nil || math.IsNaN(x) || x < low || x > high {
		return nil, wrong(field, raw, fmt.Sprintf("a number from %g to %g", low, high))
	}
	return &x, nil
}

// Whole reads a JSON integer from low to high; 10.0 is not one.
func Whole(field string, raw json.RawMessage, low, high int64) (int64, error) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if !isNumber(raw) || err != nil || n < low || n > high {
		return 0, wrong(field, raw, fmt.Sprintf("a whole number from %d to %d", low, high))
	}
	return n, nil
}

func isNumber(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

func null(raw json.RawMessage) bool { return string(raw) == "null" }

// Absent reports whether a member is missing or null, which both mean "not given".
func Absent(raw json.RawMessage) bool { return len(raw) == 0 || null(raw) }
