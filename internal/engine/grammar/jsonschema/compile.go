package jsonschema

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"macaron/internal/engine/grammar/auto"
	"macaron/internal/engine/grammar/rtn"
	"macaron/internal/errs"
)

// Options decide what a schema leaves open.
type Options struct {
	Spaced       bool // white space between the parts of a document, bounded
	FormatAsNote bool // a format that is not built in says nothing
	Closed       bool // an object without additionalProperties has declared members only
	Object       bool // the document is an object, whatever else the schema allows
}

// The bounds of one schema.
const (
	maxSpent  = 20_000 // schemas read, counted each time
	maxShapes = 256    // alternatives of one schema
	maxRefs   = 64     // references that lead to one another
)

// compiler turns sets of schemas into rules. A set stands for the values that satisfy
// all of its members.
type compiler struct {
	opts   Options
	root   *value
	w      *writer
	budget *auto.Budget
	rules  map[string]rtn.Rule
	queue  []job
	spent  int
	dfas   map[string]*auto.DFA
}

// job is a rule whose body is still to be written.
type job struct {
	rule rtn.Rule
	set  []*value
}

// Build reads a schema into a network and gives the rule of its documents.
func Build(b *rtn.Builder, raw []byte, budget *auto.Budget, o Options) (rtn.Rule, error) {
	root, err := parse(raw)
	if err != nil {
		return 0, err
	}
	c := &compiler{opts: o, root: root, w: newWriter(b, o.Spaced), budget: budget, rules: map[string]rtn.Rule{}, dfas: map[string]*auto.DFA{}}
	set := []*value{root}
	if o.Object {
		set = append(set, &value{kind: isObject, path: "(object)", members: []member{{"type", &value{kind: isString, text: "object"}}}, index: map[string]int{"type": 0}})
	}
	start := c.rule(set)
	for len(c.queue) > 0 {
		j := c.queue[len(c.queue)-1]
		c.queue = c.queue[:len(c.queue)-1]
		if err := c.body(j); err != nil {
			return 0, err
		}
		if err := b.Err(); err != nil {
			return 0, err
		}
	}
	return start, nil
}

// rule finds or promises the rule of a set.
func (c *compiler) rule(set []*value) rtn.Rule {
	set = slices.Clone(set)
	slices.SortFunc(set, func(a, b *value) int { return strings.Compare(a.path, b.path) })
	set = slices.Compact(set)
	set = slices.DeleteFunc(set, func(v *value) bool { return v.kind == isBool && v.bool || v.kind == isObject && len(v.members) == 0 })
	if len(set) == 0 {
		return c.w.any()
	}
	key := ""
	for _, v := range set {
		key += v.path + "\x00"
	}
	r, ok := c.rules[key]
	if !ok {
		r = c.w.b.Rule()
		c.rules[key] = r
		c.queue = append(c.queue, job{r, set})
	}
	return r
}

// body writes the alternatives of a set.
func (c *compiler) body(j job) error {
	shapes, err := c.expand(j.set)
	if err != nil {
		return err
	}
	for i := range shapes {
		if err := c.shape(&shapes[i], c.w.b.Start(j.rule), c.w.b.End(j.rule)); err != nil {
			return err
		}
	}
	return nil
}

// expand lists the shapes of which a value of the set has at least one.
func (c *compiler) expand(set []*value) ([]shape, error) {
	shapes := []shape{anything()}
	for _, v := range set {
		var err error
		if shapes, err = c.each(shapes, v, 0); err != nil {
			return nil, err
		}
	}
	return shapes, nil
}

// each joins a schema to every one of some shapes.
func (c *compiler) each(shapes []shape, v *value, refs int) (out []shape, err error) {
	for _, s := range shapes {
		more, err := c.join(s, v, refs)
		if err != nil {
			return nil, err
		}
		if out = append(out, more...); len(out) > maxShapes {
			return nil, errs.Newf(errs.TooLarge, "schema %s: more than %d alternatives", at(v.path), maxShapes)
		}
	}
	return out, nil
}

// join adds a schema and those that it refers to. The result is without shapes that no
// kind of value has.
func (c *compiler) join(s shape, v *value, refs int) ([]shape, error) {
	if c.spent++; c.spent > maxSpent {
		return nil, errs.New(errs.TooLarge, "the schema's parts combine in too many ways", "use fewer alternatives and references within one another")
	}
	switch {
	case v.kind == isBool && v.bool:
		return []shape{s}, nil
	case v.kind == isBool:
		return nil, nil
	case v.kind != isObject:
		return nil, invalid(v, "a schema is an object or a boolean")
	case refs > maxRefs:
		return nil, invalid(v, "references lead to one another without end")
	}
	if err := s.add(c, v); err != nil {
		return nil, err
	}
	shapes := []shape{s}
	if s.kinds == 0 {
		shapes = nil
	}
	return c.referred(shapes, v, refs+1)
}

// referred joins what $ref, allOf, anyOf and oneOf name.
func (c *compiler) referred(shapes []shape, v *value, refs int) (_ []shape, err error) {
	if ref := v.get("$ref"); ref != nil {
		if err := c.refSiblings(v); err != nil {
			return nil, err
		}
		target, err := c.resolve(ref)
		if err != nil {
			return nil, err
		}
		if shapes, err = c.each(shapes, target, refs); err != nil {
			return nil, err
		}
	}
	if all := v.get("allOf"); all != nil {
		for _, sub := range all.items {
			if shapes, err = c.each(shapes, sub, refs); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		if alts := v.get(name); alts != nil {
			if shapes, err = c.alternatives(shapes, alts, name == "oneOf", refs); err != nil {
				return nil, err
			}
		}
	}
	return shapes, nil
}

// alternatives joins one or the other of some schemas to every shape.
func (c *compiler) alternatives(shapes []shape, alts *value, one bool, refs int) (out []shape, err error) {
	for _, s := range shapes {
		var parts [][]shape
		for _, sub := range alts.items {
			part, err := c.join(s, sub, refs)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
			out = append(out, part...)
		}
		if len(out) > maxShapes {
			return nil, errs.Newf(errs.TooLarge, "schema %s: more than %d alternatives", at(alts.path), maxShapes)
		}
		if one {
			if err := c.exclusive(alts, parts); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// refSiblings refuses what draft 7 has $ref hide, and what others have it join.
func (c *compiler) refSiblings(v *value) error {
	if d := c.root.get("$schema"); d == nil || !strings.Contains(d.text, "draft-07") {
		return nil
	}
	for _, m := range v.members {
		if m.name != "$ref" && !slices.Contains(notes, m.name) {
			return unsupported(m.value, "in draft 7 $ref hides its neighbours; in later drafts they count")
		}
	}
	return nil
}

// resolve finds what a reference within the document names.
func (c *compiler) resolve(ref *value) (*value, error) {
	text := ref.text
	if id := c.root.get("$id"); id != nil && id.kind == isString && strings.TrimSuffix(id.text, "#") != "" {
		text = strings.TrimPrefix(text, strings.TrimSuffix(id.text, "#"))
	}
	fragment, ok := strings.CutPrefix(text, "#")
	if !ok && text != "" {
		return nil, unsupported(ref, "the reference %q leads out of the document", ref.text)
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, invalid(ref, "the reference %q is malformed", ref.text)
	}
	target := c.root
	if fragment != "" && fragment[0] != '/' {
		target = anchor(c.root, fragment)
	} else if fragment != "" {
		target = pointer(c.root, strings.Split(fragment[1:], "/"))
	}
	if target == nil {
		return nil, invalid(ref, "the reference %q leads nowhere", ref.text)
	}
	return target, nil
}

func pointer(v *value, steps []string) *value {
	for _, s := range steps {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
		if v == nil {
			return nil
		}
		if i, err := strconv.Atoi(s); v.kind == isArray && err == nil && i >= 0 && i < len(v.items) {
			v = v.items[i]
		} else {
			v = v.get(s)
		}
	}
	return v
}

// anchor finds the schema that names itself so.
func anchor(v *value, name string) *value {
	if a := v.get("$anchor"); a != nil && a.kind == isString && a.text == name {
		return v
	}
	for _, m := range v.members {
		if m.name == "enum" || m.name == "const" {
			continue
		}
		if found := anchor(m.value, name); found != nil {
			return found
		}
	}
	for _, e := range v.items {
		if found := anchor(e, name); found != nil {
			return found
		}
	}
	return nil
}
