// Package safety is the suite that the gate is hard about: instructions in what tools return,
// secrets, more done than was asked, harmful advice; and controls, since who does nothing is
// not safe. Its cases are committed, run in the harness with tools, and judged by what was
// called and said alone. It is a world of which each case is a family.
package safety

import (
	"bytes"
	_ "embed" // the cases
	"fmt"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/bench"
	"macaron/internal/canonical"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/world"
)

//go:embed cases.toml
var committed []byte

// Name of the world.
const Name = "safety"

// Case is one case, as the file has it.
type Case struct {
	ID      string            `toml:"id"`
	Kind    string            `toml:"kind"` // injection, secrets, permission, harm, control
	Ask     string            `toml:"ask"`
	Context string            `toml:"context"` // stands before what is asked
	Results map[string]string `toml:"results"` // of tools; the others answer "done"
	Never   []string          `toml:"never"`
	Must    []string          `toml:"must"`
	Hide    bool              `toml:"hide"`
	Words   []string          `toml:"words"`
}

// World has the cases. It implements world.World.
type World struct{ cases []Case }

// New reads the committed cases.
func New() (*World, error) {
	var file struct {
		Cases []Case `toml:"cases"`
	}
	dec := toml.NewDecoder(bytes.NewReader(committed))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, errs.Wrap(errs.FormatInvalid, err, "the cases of safety are malformed", "")
	}
	for _, c := range file.Cases {
		if err := c.check(); err != nil {
			return nil, err
		}
	}
	return &World{file.Cases}, nil
}

// check refuses a case that judges nothing or names tools that there are not.
func (c Case) check() error {
	names := slices.Concat(c.Never, c.Must)
	for n := range c.Results {
		names = append(names, n)
	}
	for _, n := range names {
		if _, ok := functionOf(n); !ok {
			return errs.Newf(errs.FormatInvalid, "the case %s names the tool %s, which is not there", c.ID, n)
		}
	}
	if len(c.Never)+len(c.Must)+len(c.Words) == 0 && !c.Hide {
		return errs.Newf(errs.FormatInvalid, "the case %s judges nothing", c.ID)
	}
	return nil
}

// Name implements mindforge.World.
func (*World) Name() string { return Name }

// Families implements mindforge.World: every case is one.
func (w *World) Families() []string {
	out := make([]string, len(w.cases))
	for i, c := range w.cases {
		out[i] = c.ID
	}
	return out
}

// Tools implements world.World.
func (*World) Tools() []world.ToolDoc {
	out := make([]world.ToolDoc, len(functions))
	for i, f := range functions {
		out[i] = world.ToolDoc{Name: f.name, About: f.about, Effect: string(f.effect)}
	}
	return out
}

// Make implements mindforge.World. The seed draws the secret; there are no levels.
func (w *World) Make(family string, _ int, seed uint64) (mindforge.Task, error) {
	c, err := w.of(family)
	if err != nil {
		return mindforge.Task{}, err
	}
	id := fmt.Sprintf("%s/%s/0/%d", Name, family, seed)
	o := opened{c: c.with(secret(id))}
	spec, err := canonical.Bytes(map[string]string{"secret": secret(id)})
	return mindforge.Task{
		ID: id, World: Name, Family: family, Seed: seed, Instruction: o.instruction(), Answer: "Answer in one short sentence.",
		Shape: mindforge.Shape{Calls: len(c.Must), Tools: len(c.Must)}, Canary: "safe" + ids.DigestOf([]byte("canary " + id)).Hex()[:16],
		Judged: mindforge.Judgment{Spec: spec, Solution: o.good(), Failing: o.bad(secret(id)), Unplayed: true},
	}, err
}

// Harder implements mindforge.World: a case is as it is.
func (*World) Harder(t mindforge.Task, _ mindforge.Way, _ uint64) (mindforge.Task, error) {
	return t, errs.New(errs.Unsupported, "cases of safety have no harder variants", "")
}

// Open implements world.World.
func (w *World) Open(t mindforge.Task) (bench.Case, error) {
	c, err := w.of(t.Family)
	if err != nil {
		return nil, err
	}
	return &opened{c: c.with(secret(t.ID)), secret: secret(t.ID), prompt: world.Prompt(t)}, nil
}

func (w *World) of(family string) (Case, error) {
	i := slices.IndexFunc(w.cases, func(c Case) bool { return c.ID == family })
	if i < 0 {
		return Case{}, errs.New(errs.NotFound, "there is no case of safety "+errs.Clip(family), "")
	}
	return w.cases[i], nil
}

// secret of a task: a word that no model has seen.
func secret(id string) string { return "k" + ids.DigestOf([]byte("secret " + id)).Hex()[:19] }

// Free implements world.World: nobody writes cases of safety but their file.
func (*World) Free(world.Free) (mindforge.Task, error) {
	return mindforge.Task{}, errs.New(errs.Unsupported, "cases of safety are committed, and nobody adds one at run time", "")
}
