package discovery

import (
	"bytes"
	"encoding/json"
	"io"

	"macaron/internal/canonical"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/world"
)

// Choice is a proposal as a typed choice: a family of the catalogue, a level and ways. A model
// makes it under ChoiceSchema by constrained decoding, so that the smallest one can; what a
// task says, the world says.
type Choice struct {
	Family string          `json:"family"` // WORLD/FAMILY
	Level  int             `json:"level"`
	Ways   []mindforge.Way `json:"ways"`
}

// The bounds of a choice.
const (
	maxLevel    = 8
	maxWays     = 4
	maxProposal = 1 << 12
)

// ChoiceSchema is the JSON Schema of a choice among the families that may be fed.
func (d *Discoverer) ChoiceSchema(worlds []world.World) (json.RawMessage, error) {
	families := []string{}
	for _, w := range worlds {
		for _, f := range w.Families() {
			if d.fed(w.Name(), f) {
				families = append(families, w.Name()+"/"+f)
			}
		}
	}
	levels := make([]int, maxLevel+1)
	for i := range levels {
		levels[i] = i
	}
	return canonical.Bytes(map[string]any{"type": "object", "additionalProperties": false, "required": []string{"family", "level", "ways"}, "properties": map[string]any{
		"family": map[string]any{"enum": families}, "level": map[string]any{"enum": levels},
		"ways": map[string]any{"type": "array", "maxItems": maxWays, "items": map[string]any{"enum": mindforge.Ways}},
	}})
}

// Choose makes the candidate of a choice. The proposer chooses no seed: it could name a task
// that it has seen.
func (d *Discoverer) Choose(worlds []world.World, raw []byte, proposer string, round uint64) (*Candidate, *Refusal) {
	from := Source{Kind: Chosen, Proposer: proposer}
	var c Choice
	if err := strictly(raw, maxProposal, &c); err != nil {
		return nil, d.unread(err, Malformed, from)
	}
	if c.Level < 0 || c.Level > maxLevel || len(c.Ways) > maxWays {
		return nil, d.unread(errs.Newf(errs.InvalidRequest, "level %d, %d ways", c.Level, len(c.Ways)), Malformed, from)
	}
	for _, w := range worlds {
		for _, f := range w.Families() {
			if w.Name()+"/"+f == c.Family && d.fed(w.Name(), f) {
				return d.chosen(w, f, c, from, round)
			}
		}
	}
	return nil, d.unread(errs.New(errs.NotFound, "there is no family "+errs.Clip(c.Family)+" to choose", ""), Unknown, from)
}

func (d *Discoverer) chosen(w world.World, f string, c Choice, from Source, round uint64) (*Candidate, *Refusal) {
	t, err := w.Make(f, c.Level, drawn(d.Seed, "choice", w.Name(), f, round))
	for i, way := range c.Ways {
		if err == nil {
			t, err = w.Harder(t, way, drawn(d.Seed, "choice", round, i))
		}
	}
	if err != nil {
		return nil, d.unread(err, Unknown, from)
	}
	return &Candidate{t, w, from}, nil
}

// Write makes the candidate of a task that a model wrote: instruction, data, verifier,
// solution and failing solutions, for the tools of a world (docs/formats/task.md). Nothing of
// it is believed before it was played.
func (d *Discoverer) Write(worlds []world.World, raw []byte, proposer string) (*Candidate, *Refusal) {
	from := Source{Kind: Written, Proposer: proposer}
	f, err := world.ReadFree(raw)
	if err != nil {
		return nil, d.unread(err, Malformed, from)
	}
	w, err := world.Of(worlds, f.World)
	if err != nil {
		return nil, d.unread(err, Unknown, from)
	}
	t, err := w.Free(f)
	switch {
	case errs.CodeOf(err) == errs.NotFound:
		return nil, d.unread(err, Unknown, from)
	case err != nil:
		return nil, d.unread(err, Malformed, from)
	}
	return &Candidate{t, w, from}, nil
}

// unread counts a proposal that is no candidate.
func (d *Discoverer) unread(err error, r Reason, from Source) *Refusal {
	refusal := no(r, "%s", errs.As(err).Message)
	refusal.Source = from
	return d.Refuse(*refusal)
}

// strictly reads one JSON value of bounded length without unknown fields.
func strictly(raw []byte, most int, into any) error {
	if len(raw) > most {
		return errs.Newf(errs.TooLarge, "the proposal has %d bytes", len(raw))
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return errs.New(errs.FormatInvalid, "the proposal cannot be read: "+errs.Clip(err.Error()), "")
	}
	if _, err := dec.Token(); err != io.EOF {
		return errs.New(errs.FormatInvalid, "there is more than one value", "")
	}
	return nil
}
