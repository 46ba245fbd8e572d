package expansion

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"

	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
)

// maxProposal bounds what a model may write as a proposal, in bytes.
const maxProposal = 16 << 10

// ParseProposal reads what a model wrote: one JSON object with an edit and a prediction.
// Unknown fields, more than one value and claims out of range are refused.
func ParseProposal(text []byte) (Proposal, error) {
	var p Proposal
	if len(text) > maxProposal {
		return p, errs.Newf(errs.TooLarge, "the proposal has %d bytes; %d are read", len(text), maxProposal)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return p, errs.Wrap(errs.FormatInvalid, err, "the proposal is not the JSON that was asked for", `write {"edit": {"kind", "component", "value"}, "prediction": {"fixes", "regress", "gain"}}`)
	}
	if dec.More() {
		return p, errs.New(errs.FormatInvalid, "the proposal goes on behind its object", "write one object")
	}
	return p, p.check()
}

const maxFamilies = 64

func (p Proposal) check() error {
	q := p.Prediction
	if q.Gain < -1 || q.Gain > 1 || q.Gain != q.Gain || len(q.Fixes) > maxFamilies || len(q.Regress) > maxFamilies {
		return errs.New(errs.FormatInvalid, "the prediction claims what cannot be", "a gain is from -1 to 1, and at most 64 families are named")
	}
	_, err := edit.Check(p.Edit)
	return err
}

// Uniform chooses any committed edit that can be made, with equal chance, and predicts nothing.
type Uniform struct{}

// Name implements Proposer.
func (Uniform) Name() string { return "catalogue" }

// Propose implements Proposer.
func (Uniform) Propose(_ context.Context, a Ask) (Proposal, error) {
	o, ok := a.Draw(rand.New(rand.NewPCG(a.Seed, 0x756e69)), a.Options) //nolint:gosec // a search is no secret
	if !ok {
		return Proposal{}, NoMore()
	}
	return Proposal{Edit: o.Edit}, nil
}

// NoMore is the error of a proposer that has nothing left to choose.
func NoMore() error {
	return errs.New(errs.NotFound, "no edit of the catalogue fits any more", "")
}

// Expect predicts from evidence alone: the families that failed in a way that the option is
// meant for, and half of such failures.
func Expect(a Ask, o Option) mindforge.Prediction {
	var p mindforge.Prediction
	n := 0
	for _, t := range a.Traces {
		if t.Pass || !o.Meant(t.Failure) {
			continue
		}
		if n++; !slices.Contains(p.Fixes, t.Family) && len(p.Fixes) < maxFamilies {
			p.Fixes = append(p.Fixes, t.Family)
		}
	}
	p.Gain = 0.5 * float64(n) / float64(max(1, len(a.Traces)))
	return p
}

func optionOf(c *edit.Catalogue, e mindforge.Edit) Option {
	x, _ := c.Choice(e)
	return Option{e, x.About, x.Answers}
}

// with is a list of edits with one more, in the place of one of its component.
func with(edits []mindforge.Edit, e mindforge.Edit) []mindforge.Edit {
	out := slices.DeleteFunc(slices.Clone(edits), func(o mindforge.Edit) bool { return o.Component == e.Component })
	return append(out, e)
}
