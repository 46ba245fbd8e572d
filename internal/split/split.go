// Package split makes plans of turns that have several intents: which part of the request
// goes to which specialist, and which part builds on another's answer. Everything in it is
// a pure function; who asks a model is the turn.
package split

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"macaron/internal/contract"
	"macaron/internal/errs"
)

// Part is what one specialist is to answer.
type Part struct {
	Label         string
	Text          string
	After         int // the part whose answer it builds on, from 1; 0: none
	Probabilities map[string]float64
}

// Labels names the specialists of a plan in one word, "L2+L1".
func Labels(parts []Part) string {
	var labels []string
	for _, p := range parts {
		labels = append(labels, p.Label)
	}
	return strings.Join(labels, "+")
}

// Vote is what the router said of a piece.
type Vote struct {
	Piece         string
	Label         string
	Probabilities map[string]float64
}

// Merge makes a plan of the pieces of a request: one part for each specialist, in the
// order in which they are first named. A piece on which the router is less sure than the
// contract wants, and one that says nothing by itself, belongs to the piece before it, the
// first ones to the piece behind. Nil means that the request is one specialist's.
func Merge(s *contract.Split, votes []Vote) []Part {
	var parts []Part
	var loose []string // before the first piece that counts
	last := -1
	for _, v := range votes {
		if !v.counts(s.MinProbability) {
			if last < 0 {
				loose = append(loose, v.Piece)
			} else {
				parts[last].Text += " " + v.Piece
			}
			continue
		}
		at := slices.IndexFunc(parts, func(p Part) bool { return p.Label == v.Label })
		if at < 0 {
			p := Part{Label: v.Label, Probabilities: v.Probabilities, Text: strings.Join(append(loose, v.Piece), " ")}
			if last >= 0 && refersBack(v.Piece) {
				p.After = last + 1
			}
			parts, at, loose = append(parts, p), len(parts), nil
		} else {
			parts[at].Text += " " + v.Piece
		}
		last = at
	}
	if len(parts) < 2 || len(parts) > s.Parts {
		return nil
	}
	return parts
}

// planned is the JSON that a model writes.
type planned struct {
	Parts []struct {
		Adapter string `json:"adapter"`
		Request string `json:"request"`
		After   int    `json:"after"`
	} `json:"parts"`
}

// Read makes a plan of the JSON that a model wrote. What is no plan for these labels is an
// error; a plan with one specialist is nil.
func Read(s *contract.Split, labels []string, text string) ([]Part, error) {
	var p planned
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return nil, errs.Wrap(errs.UpstreamFailed, err, "the plan is no JSON of its schema", "")
	}
	var parts []Part
	for i, q := range p.Parts {
		q.Request = strings.TrimSpace(q.Request)
		if !slices.Contains(labels, q.Adapter) || q.Request == "" || q.After < 0 || q.After > i {
			return nil, errs.Newf(errs.UpstreamFailed, "part %d of the plan is for %.40q after %d", i+1, q.Adapter, q.After)
		}
		if slices.ContainsFunc(parts, func(p Part) bool { return p.Label == q.Adapter }) {
			return nil, errs.Newf(errs.UpstreamFailed, "the plan has two parts for %s", q.Adapter)
		}
		parts = append(parts, Part{Label: q.Adapter, Text: q.Request, After: q.After})
	}
	if len(parts) > s.Parts {
		return nil, errs.Newf(errs.UpstreamFailed, "the plan has %d parts", len(parts))
	}
	if len(parts) < 2 {
		return nil, nil
	}
	return parts, nil
}

// Schema is the JSON Schema of a plan over these labels.
func Schema(labels []string, most int) string {
	quoted := make([]string, len(labels))
	for i, l := range labels {
		quoted[i] = fmt.Sprintf("%q", l) // labels are of A-Z a-z 0-9 . _ - only
	}
	return fmt.Sprintf(`{"type":"object","properties":{"parts":{"type":"array","minItems":1,"maxItems":%d,"items":{"type":"object","properties":`+
		`{"adapter":{"enum":[%s]},"request":{"type":"string","minLength":1,"maxLength":400},"after":{"type":"integer","minimum":0,"maximum":%d}},`+
		`"required":["adapter","request","after"],"additionalProperties":false}}},"required":["parts"],"additionalProperties":false}`,
		most, strings.Join(quoted, ","), most-1)
}
