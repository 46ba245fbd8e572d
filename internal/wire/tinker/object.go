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
)

// object reads the members of a JSON object one by one. The first error stays; what is read
// after it is empty. close refuses members that nobody has asked for: a field that is passed
// over silently may be the one that says not to train on the data.
type object struct {
	field   string
	members map[string]json.RawMessage
	asked   map[string]bool
	err     error
}

func objectOf(field string, raw []byte) *object {
	members, err := limits.Object(field, raw)
	return &object{field: field, members: members, asked: map[string]bool{"type": true}, err: err}
}

// of gives a member; absent is null.
func (o *object) of(name string) (raw json.RawMessage, there bool) {
	if o.asked != nil {
		o.asked[name] = true
	}
	raw = o.members[name]
	return raw, o.err == nil && !limits.Absent(raw)
}

func (o *object) path(name string) string {
	if o.field == "" {
		return name
	}
	return o.field + "." + name
}

// fail keeps the first error.
func (o *object) fail(err error) {
	if o.err == nil && err != nil {
		o.err = err
	}
}

// need marks members that may not be absent.
func (o *object) need(names ...string) {
	for _, name := range names {
		if _, there := o.of(name); !there && o.err == nil {
			o.fail(errs.New(errs.InvalidRequest, "the field "+o.path(name)+" is missing", "").In(o.path(name)))
		}
	}
}

func (o *object) text(name string, most int) (s string) {
	if raw, there := o.of(name); there {
		text, err := limits.Text(o.path(name), raw, most)
		o.fail(err)
		s = text
	}
	return s
}

// name is a text of a name's length.
func (o *object) name(name string) string { return o.text(name, limits.NameBytes) }

// id is a name that may not be absent or empty.
func (o *object) id(name string) string {
	o.need(name)
	s := o.name(name)
	if s == "" && o.err == nil {
		o.fail(errs.New(errs.InvalidRequest, o.path(name)+" is empty", "").In(o.path(name)))
	}
	return s
}

func (o *object) whole(name string, otherwise, low, high int64) int64 {
	raw, there := o.of(name)
	if !there {
		return otherwise
	}
	n, err := limits.Whole(o.path(name), raw, low, high)
	o.fail(err)
	return n
}

func (o *object) number(name string, otherwise, low, high float64) float64 {
	raw, there := o.of(name)
	if !there {
		return otherwise
	}
	x, err := limits.Number(o.path(name), raw, low, high)
	o.fail(err)
	if err != nil {
		return otherwise
	}
	return *x
}

func (o *object) flag(name string, otherwise bool) bool {
	raw, there := o.of(name)
	if !there {
		return otherwise
	}
	b, err := limits.Bool(o.path(name), raw)
	o.fail(err)
	return b
}

// object is a member that is one; it is empty, not nil, where it is absent.
func (o *object) object(name string) *object {
	raw, there := o.of(name)
	if !there {
		return &object{field: o.path(name), err: o.err}
	}
	inner := objectOf(o.path(name), raw)
	o.fail(inner.err)
	return inner
}

func (o *object) list(name string, most int) []json.RawMessage {
	raw, there := o.of(name)
	if !there {
		return nil
	}
	items, err := limits.List(o.path(name), raw, most)
	o.fail(err)
	return items
}

// metadata is an object of the client's own, which is kept as it is.
func (o *object) metadata(name string) json.RawMessage {
	raw, there := o.of(name)
	if !there {
		return nil
	}
	if len(raw) > limits.SchemaBytes {
		o.fail(errs.New(errs.TooLarge, fmt.Sprintf("%s has %d bytes, more than %d", o.path(name), len(raw), limits.SchemaBytes), "send less").In(o.path(name)))
		return nil
	}
	_, err := limits.Object(o.path(name), raw)
	o.fail(err)
	return slices.Clone(raw)
}

// seq is the number of an operation; absent and zero ask for the next free.
func (o *object) seq(name string, least int64) int64 {
	n := o.whole(name, mint.NoSeq, 0, math.MaxInt64)
	if n < least {
		return mint.NoSeq
	}
	return n
}

// close refuses what nobody has asked for. Null and false ask for nothing.
func (o *object) close() error {
	for _, name := range slices.Sorted(maps.Keys(o.members)) {
		if o.err != nil {
			break
		}
		if raw := o.members[name]; !o.asked[name] && !limits.Absent(raw) && string(raw) != "false" {
			o.err = errs.New(errs.InvalidRequest, "the field "+errs.Clip(o.path(name))+" is not known",
				"known are "+strings.Join(slices.Sorted(maps.Keys(o.asked)), ", ")).In(errs.Clip(o.path(name)))
		}
	}
	return o.err
}
