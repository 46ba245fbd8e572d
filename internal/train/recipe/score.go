package recipe

import (
	"context"

	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/train"
)

// Scored is how an adapter does on one row.
type Scored struct {
	Loss    float64 `json:"loss"`    // cross entropy in nats, summed over what is learned
	Learned float64 `json:"learned"` // the sum of the row's weights, without their signs
}

// Length is the number of tokens of a line of a data file; 0 of one that learns nothing.
func (m *Machine) Length(text []byte) (int, error) {
	l, err := parseLine(text)
	if err != nil {
		return 0, errs.New(errs.FormatInvalid, "the row cannot be read: "+err.Error(), "docs/formats/recipe.md has the fields of a row")
	}
	r, err := m.encode(&l)
	if err != nil || r.weight() == 0 {
		return 0, err
	}
	return len(r.tokens), nil
}

// Score gives the loss of an adapter on lines of a data file, row by row. None may have more
// tokens than the machine's context.
func (m *Machine) Score(ctx context.Context, a *lora.Adapter, texts [][]byte) ([]Scored, error) {
	t, err := train.From(m.Passes, m.Base, m.Context, a)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	out := make([]Scored, len(texts))
	for i, text := range texts {
		l, err := parseLine(text)
		if err != nil {
			return nil, errs.New(errs.FormatInvalid, "the row cannot be read: "+err.Error(), "docs/formats/recipe.md has the fields of a row")
		}
		r, err := m.encode(&l)
		if err != nil {
			return nil, err
		}
		got, err := t.Forward(ctx, []train.Datum{r.datum(1)}, crossEntropy)
		if err != nil {
			return nil, err
		}
		out[i] = Scored{got.Metrics["loss:sum"], r.weight()}
	}
	return out, nil
}
