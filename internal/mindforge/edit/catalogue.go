package edit

import (
	"bytes"
	_ "embed" // the catalogue
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/canonical"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
)

//go:embed edit.toml
var committed []byte

// Schema of a catalogue.
const Schema = "macaron.edits/1"

const (
	maxCatalogue = 1 << 20
	maxChoices   = 1024
	maxValues    = 64
)

// Catalogue is a list of choices that was committed before the tasks were drawn which are
// to judge them. A loop chooses from it; only where a choice is free may a model write.
type Catalogue struct {
	Schema  string   `toml:"schema" json:"schema"`
	Name    string   `toml:"name" json:"name"`
	Version string   `toml:"version" json:"version"`
	Choices []Choice `toml:"edits" json:"edits"`

	edits []mindforge.Edit // every committed edit, in order
	hash  ids.Digest
}

// Choice is an edit with the values that it can have.
type Choice struct {
	ID        string   `toml:"id" json:"id"`
	About     string   `toml:"about" json:"about"` // for people, one line
	Kind      string   `toml:"kind" json:"kind"`
	Component string   `toml:"component" json:"component"`
	Values    []any    `toml:"values" json:"values,omitempty"`   // texts, numbers, or tables; none: the edit takes away
	Free      int      `toml:"free" json:"free,omitempty"`       // runes of a text that a model may write; 0: none
	Touches   []string `toml:"touches" json:"touches"`           // score, cost, permission: held to what Touches says
	Approval  bool     `toml:"approval" json:"approval"`         // a person says yes before it is served
	Answers   []string `toml:"answers" json:"answers,omitempty"` // classes of failure that it is meant for
}

// Committed is the catalogue of this build.
func Committed() *Catalogue {
	c, err := Parse(committed)
	if err != nil {
		panic(err) // a test reads it
	}
	return c
}

// Parse reads a catalogue strictly.
func Parse(text []byte) (*Catalogue, error) {
	if len(text) > maxCatalogue {
		return nil, errs.Newf(errs.TooLarge, "the catalogue is larger than %d bytes", maxCatalogue)
	}
	c := &Catalogue{}
	dec := toml.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(c); err != nil {
		return nil, errs.Wrap(errs.FormatInvalid, err, "not a catalogue of edits", "docs/formats/edits.md lists the keys")
	}
	if c.Schema != Schema || c.Name == "" || c.Version == "" || len(c.Choices) == 0 || len(c.Choices) > maxChoices {
		return nil, malformed("", fmt.Sprintf("a catalogue has schema = %q, a name, a version and 1 to %d edits", Schema, maxChoices))
	}
	for i, x := range c.Choices {
		if slices.ContainsFunc(c.Choices[:i], func(o Choice) bool { return o.ID == x.ID }) || !identifier.MatchString(x.ID) {
			return nil, malformed(x.ID, "the id is no identifier, or stands there twice")
		}
		edits, err := x.edits()
		if err != nil {
			return nil, malformed(x.ID, errs.As(err).Message)
		}
		c.edits = append(c.edits, edits...)
	}
	var err error
	c.hash, err = canonical.Hash(c)
	return c, err
}

func malformed(id, message string) error {
	if id != "" {
		message = "edits." + errs.Clip(id) + ": " + message
	}
	return errs.New(errs.FormatInvalid, message, "docs/formats/edits.md shows the format")
}

// edits makes the edits of a choice and checks each.
func (x Choice) edits() ([]mindforge.Edit, error) {
	k, err := kindOf(x.Kind)
	if err != nil {
		return nil, err
	}
	values := x.Values
	if k.form == nothing {
		values = []any{""}
	}
	if len(values) > maxValues || len(values) == 0 && x.Free == 0 || x.Free < 0 || x.Free > k.Most || x.Free > 0 && k.form != line && k.form != text {
		return nil, badf("", "give 1 to %d values, or free = runes of a text", maxValues)
	}
	var out []mindforge.Edit
	for _, v := range values {
		s, err := asText(v)
		if err != nil {
			return nil, err
		}
		e := mindforge.Edit{Kind: x.Kind, Component: x.Component, Value: s}
		if _, err := Check(e); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	_, err = Check(mindforge.Edit{Kind: x.Kind, Component: x.Component, Value: example(k, out)})
	return out, err
}

func example(k Kind, out []mindforge.Edit) string {
	if len(out) > 0 {
		return out[0].Value
	}
	return "a text of a " + string(k.form)
}

// asText writes a value of the catalogue as an edit has it.
func asText(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case map[string]any:
		b, err := toml.Marshal(v)
		return string(b), err
	}
	return "", badf("", "a value is a text, a number or a table, not %T", v)
}

// Hash names the catalogue by its content.
func (c *Catalogue) Hash() ids.Digest { return c.hash }

// Edits lists every committed edit, in the order of the file.
func (c *Catalogue) Edits() []mindforge.Edit { return slices.Clone(c.edits) }

// Fitting lists the committed edits that fit a contract as it is.
func (c *Catalogue) Fitting(to *contract.Contract) []mindforge.Edit {
	var out []mindforge.Edit
	for _, e := range c.edits {
		if Fits(to, e) {
			out = append(out, e)
		}
	}
	return out
}

// Choice finds what an edit is a choice of.
func (c *Catalogue) Choice(e mindforge.Edit) (Choice, bool) {
	for _, x := range c.Choices {
		if x.Kind == e.Kind && x.Component == e.Component {
			return x, true
		}
	}
	return Choice{}, false
}

// Lists reports whether an edit stands in the catalogue word for word.
func (c *Catalogue) Lists(e mindforge.Edit) bool { return slices.Contains(c.edits, e) }

// Admit refuses an edit that is neither a committed choice nor, where free texts are allowed,
// a text within the bounds of a free one.
func (c *Catalogue) Admit(e mindforge.Edit, free bool) error {
	if c.Lists(e) {
		return nil
	}
	x, ok := c.Choice(e)
	switch {
	case !ok:
		return badf("choose an edit of the catalogue", "%s of %s is no choice of the catalogue %s", errs.Clip(e.Kind), errs.Clip(e.Component), c.Name)
	case !free || x.Free == 0:
		return badf("choose one of its values", "%s takes committed values only", x.ID)
	case len([]rune(e.Value)) > x.Free || strings.TrimSpace(e.Value) == "":
		return badf("", "a text of %s has 1 to %d runes", x.ID, x.Free)
	}
	_, err := Check(e)
	return err
}
