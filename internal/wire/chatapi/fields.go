// Package chatapi holds the parts that several wire formats write alike: messages, tools,
// stops; usage, tool calls and log probabilities in answers.
package chatapi

import (
	"encoding/json"
	"fmt"
	"math"

	"macaron/internal/errs"
	"macaron/internal/limits"
)

// OneOf reads one of the allowed words.
func OneOf(field string, raw json.RawMessage, allowed ...string) (string, error) {
	s, err := limits.Text(field, raw, limits.NameBytes)
	if err != nil {
		return "", err
	}
	for _, a := range allowed {
		if s == a {
			return s, nil
		}
	}
	return "", errs.Newf(errs.InvalidRequest, "%s is %q, but must be one of %q", field, errs.Clip(s), allowed).In(field)
}

// Seed reads the seed of a draw.
func Seed(field string, raw json.RawMessage) (*int64, error) {
	n, err := limits.Whole(field, raw, math.MinInt64, math.MaxInt64)
	return &n, err
}

// Stop reads one string or a list of them.
func Stop(field string, raw json.RawMessage) ([]string, error) {
	items := []json.RawMessage{raw}
	if raw[0] == '[' {
		var err error
		if items, err = limits.List(field, raw, limits.StopCount); err != nil {
			return nil, err
		}
	}
	var out []string
	for i, item := range items {
		at := field
		if raw[0] == '[' {
			at = fmt.Sprintf("%s[%d]", field, i)
		}
		s, err := limits.Text(at, item, limits.StopBytes)
		if err != nil {
			return nil, err
		}
		if s == "" {
			return nil, errs.New(errs.InvalidRequest, at+" is empty, which would stop everything", "leave it out").In(at)
		}
		out = append(out, s)
	}
	return out, nil
}

// Metadata checks the client's own notes: a bounded number of bounded strings.
func Metadata(field string, raw json.RawMessage) error {
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	if len(members) > limits.Metadata {
		return errs.Newf(errs.TooLarge, "%s has more than %d entries", field, limits.Metadata).In(field)
	}
	for name, value := range members {
		if _, err := limits.Text(field+"."+errs.Clip(name), value, limits.MetadataText); err != nil {
			return err
		}
	}
	return nil
}
