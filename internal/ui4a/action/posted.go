package action

import (
	"bytes"
	"encoding/json"
	"io"

	"macaron/internal/errs"
)

// Posted are the NoAI values that a page sends with an Action, so that they can be looked
// for in what leaves: held by the card's code, and sealed, which the code has not seen.
// They are never kept, shown or logged.
type Posted struct {
	Held   map[string]json.RawMessage `json:"held"`
	Sealed map[string]json.RawMessage `json:"sealed"`
}

// String keeps the values out of logs and errors, as GoString and MarshalJSON do.
func (p Posted) String() string { return hidden }

// GoString is the fixed text.
func (p Posted) GoString() string { return hidden }

// MarshalJSON is the fixed text.
func (p Posted) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// ReadPosted reads {"action": ..., "secrets": {"held": ..., "sealed": ...}}, which
// host/surface.js gives a page to send.
func ReadPosted(r io.Reader) (Action, Posted, error) {
	var body struct {
		Action  json.RawMessage `json:"action"`
		Secrets Posted          `json:"secrets"`
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return Action{}, Posted{}, errs.New(errs.TooLarge, "the Action and its private values are too long", "keep less in the card's state")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&body); err != nil {
		return Action{}, Posted{}, refuse(unknownField(err), "the body is {action, secrets: {held, sealed}}")
	}
	a, err := Read(body.Action)
	return a, body.Secrets, err
}

// Take makes what a page has sent values to look for.
func (g *Guard) Take(p Posted) error {
	for _, v := range p.Held {
		if err := g.Hold(v); err != nil {
			return err
		}
	}
	for _, v := range p.Sealed {
		if err := g.Seal(v); err != nil {
			return err
		}
	}
	return nil
}

// Seal takes a value that the host alone has: it is looked for, but the card's code,
// which has not seen it, may go on to send texts of its own making.
func (g *Guard) Seal(value json.RawMessage) error {
	v, err := decode(value)
	if err == nil && !isEmpty(v) {
		leaves(v, g.secrets.addText)
	}
	return err
}
