package vllm

import (
	"encoding/json"
	"math"

	"macaron/internal/backend"
	"macaron/internal/errs"
	"macaron/internal/limits"
)

// overlay is a request's wish that another model's keys and values stand for the first
// tokens of its prompt. Every object of an answer repeats it, because the answer is
// approximate.
type overlay struct {
	Model  string `json:"prefix_of"`
	Tokens int    `json:"tokens"`
}

// overlayField reads {"model": NAME, "tokens": N}.
func overlayField(r *request, field string, raw json.RawMessage) error {
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	o := &overlay{}
	for name, value := range members {
		switch name {
		case "model":
			o.Model, err = limits.Text(field+".model", value, limits.NameBytes)
		case "tokens":
			var n int64
			n, err = limits.Whole(field+".tokens", value, 1, math.MaxInt32)
			o.Tokens = int(n)
		default:
			err = errs.New(errs.InvalidRequest, field+" has no field "+errs.Clip(name), "give model and tokens").In(field)
		}
		if err != nil {
			return err
		}
	}
	if o.Model == "" || o.Tokens == 0 {
		return errs.New(errs.InvalidRequest, field+" needs a model and a number of tokens", "").In(field)
	}
	r.overlay = o
	return nil
}

// lay finds the adapter of an overlay. One of the request's own adapter is none.
func (a *api) lay(r *request) error {
	if r.overlay == nil {
		return nil
	}
	rev, err := a.hold(r, r.overlay.Model)
	if err != nil {
		return errs.As(err).In("overlay.model")
	}
	if len(r.Mixture) == 0 && rev.Hash == r.Revision.Hash {
		r.overlay = nil
		return nil
	}
	r.Overlay = backend.Overlay{Revision: rev, Tokens: r.overlay.Tokens}
	return nil
}

// note tells what only this server has to tell of a request; nil for nothing.
func (r *request) note() *note {
	if len(r.ignored) == 0 && r.overlay == nil {
		return nil
	}
	return &note{Ignored: r.ignored, Approximate: r.overlay}
}
