package tinker

import (
	"fmt"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"macaron/internal/errs"
	"macaron/internal/limits"
)

// field is one field of a protobuf message, with the value that its wire type has.
type field struct {
	of     string // the message, for errors
	number protowire.Number
	kind   protowire.Type
	bytes  []byte // of a length-delimited field
	bits   uint64 // of a varint or a fixed number
}

// message goes through the fields of a message in order.
func message(name string, b []byte, take func(field) error) error {
	for len(b) > 0 {
		f := field{of: name}
		var n int
		if f.number, f.kind, n = protowire.ConsumeTag(b); n < 0 {
			return malformed(name, protowire.ParseError(n))
		}
		b = b[n:]
		if n = f.consume(b); n < 0 {
			return malformed(name, protowire.ParseError(n))
		}
		b = b[n:]
		if err := take(f); err != nil {
			return err
		}
	}
	return nil
}

// consume reads the value; groups, which no message here has, are malformed.
func (f *field) consume(b []byte) (n int) {
	switch f.kind {
	case protowire.VarintType:
		f.bits, n = protowire.ConsumeVarint(b)
	case protowire.Fixed64Type:
		f.bits, n = protowire.ConsumeFixed64(b)
	case protowire.Fixed32Type:
		var bits uint32
		bits, n = protowire.ConsumeFixed32(b)
		f.bits = uint64(bits)
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(b)
	default:
		n = -1
	}
	return n
}

func malformed(name string, err error) error {
	return errs.Wrap(errs.InvalidRequest, err, "the message "+name+" is not well-formed protobuf", "send it as the SDK of this protocol does")
}

// is refuses a field that is of another wire type than its number stands for.
func (f field) is(kind protowire.Type) error {
	if f.kind == kind {
		return nil
	}
	return malformed(f.of, fmt.Errorf("field %d has the wire type %d", f.number, f.kind))
}

// unknown refuses a field by its number: one that is passed over may be the one that says
// not to train on the data.
func (f field) unknown() error {
	return errs.New(errs.InvalidRequest, fmt.Sprintf("the message %s has a field %d, which is not known", f.of, f.number), "use an SDK from 0.25 to 0.38").In(f.of)
}

func (f field) text(into *string) error {
	if err := f.is(protowire.BytesType); err != nil {
		return err
	}
	if len(f.bytes) > limits.NameBytes || !utf8.Valid(f.bytes) {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("field %d of the message %s is no text of at most %d bytes", f.number, f.of, limits.NameBytes), "").In(f.of)
	}
	*into = string(f.bytes)
	return nil
}

func (f field) data(into *[]byte) error {
	*into = f.bytes
	return f.is(protowire.BytesType)
}

func (f field) integer(into *int64) error {
	*into = int64(f.bits)
	return f.is(protowire.VarintType)
}

func (f field) flag(into *bool) error {
	*into = f.bits != 0
	return f.is(protowire.VarintType)
}

func (f field) double(into *float64) error {
	*into = math.Float64frombits(f.bits)
	return f.is(protowire.Fixed64Type)
}

// integers appends one value or, packed, many.
func (f field) integers(into *[]int64, most int) error {
	if f.kind == protowire.VarintType {
		*into = append(*into, int64(f.bits))
	} else if err := f.is(protowire.BytesType); err != nil {
		return err
	}
	for b := f.bytes; len(b) > 0 && len(*into) <= most; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return malformed(f.of, protowire.ParseError(n))
		}
		*into, b = append(*into, int64(v)), b[n:]
	}
	if len(*into) > most {
		return errs.New(errs.TooLarge, fmt.Sprintf("field %d of the message %s has more than %d values", f.number, f.of, most), "").In(f.of)
	}
	return nil
}

// entry reads a field of a map: the key, and the value as it is encoded.
func (f field) entry(value func(field) error) (key string, err error) {
	if err := f.is(protowire.BytesType); err != nil {
		return "", err
	}
	err = message(f.of, f.bytes, func(e field) error {
		switch e.number {
		case 1:
			return e.text(&key)
		case 2:
			return value(e)
		}
		return e.unknown()
	})
	return key, err
}

// message goes through the message that is the value of a field.
func (f field) message(name string, take func(field) error) error {
	if err := f.is(protowire.BytesType); err != nil {
		return err
	}
	return message(name, f.bytes, take)
}
