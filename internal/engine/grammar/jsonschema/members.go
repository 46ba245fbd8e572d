package jsonschema

import (
	"fmt"
	"slices"

	"macaron/internal/engine/grammar/auto"
	"macaron/internal/engine/grammar/rtn"
)

// field is a member with a name of its own.
type field struct {
	name     string
	value    rtn.Rule
	required bool
}

// others is members without a name of their own: those whose names are in a language.
type others struct {
	member rtn.Rule
}

// pattern is one of patternProperties.
type pattern struct {
	owner, schema *value
	language      *auto.DFA
}

// fields lists the named members of a shape, in order: those that some "properties"
// declares, then those that are only required.
func (c *compiler) fields(s *shape, patterns []pattern) (out []field, err error) {
	var names []string
	seen, required := map[string]bool{}, map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for _, v := range s.objects {
		if p := v.get("properties"); p != nil {
			for _, m := range p.members {
				add(m.name)
			}
		}
	}
	for _, name := range s.required {
		add(name)
		required[name] = true
	}
	allowed, err := c.allowedNames(s)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		f := field{name: name, required: required[name]}
		set := c.applicable(s, name, patterns)
		if allowed != nil && !allowed.Accepts(name) || slices.ContainsFunc(set, isFalse) {
			f.value = c.w.nothing()
		} else {
			f.value = c.rule(set)
		}
		out = append(out, f)
	}
	return out, nil
}

func isFalse(v *value) bool { return v.kind == isBool && !v.bool }

// nothing is a rule that takes no value.
func (w *writer) nothing() rtn.Rule { return w.once("nothing", func(from, to rtn.Node) {}) }

// patternsOf compiles the patternProperties of a shape.
func (c *compiler) patternsOf(s *shape) (out []pattern, err error) {
	for _, v := range s.objects {
		p := v.get("patternProperties")
		if p == nil {
			continue
		}
		for _, m := range p.members {
			e, err := auto.Parse(m.name)
			if err != nil {
				return nil, inside(m.value, err)
			}
			d, err := auto.Compile(auto.Search(e), c.budget)
			if err != nil {
				return nil, inside(m.value, err)
			}
			out = append(out, pattern{v, m.value, d})
		}
	}
	return out, nil
}

// allowedNames is the language of propertyNames, nil for all names.
func (c *compiler) allowedNames(s *shape) (*auto.DFA, error) {
	var set []*value
	for _, v := range s.objects {
		if n := v.get("propertyNames"); n != nil {
			set = append(set, n)
		}
	}
	if len(set) == 0 {
		return nil, nil
	}
	return c.names(set)
}

// applicable lists the schemas for the member of a name.
func (c *compiler) applicable(s *shape, name string, patterns []pattern) (set []*value) {
	for _, v := range s.objects {
		known := false
		if p := v.get("properties"); p != nil && p.get(name) != nil {
			set, known = append(set, p.get(name)), true
		}
		for _, p := range patterns {
			if p.owner == v && p.language.Accepts(name) {
				set, known = append(set, p.schema), true
			}
		}
		if !known {
			set = append(set, c.additional(v)...)
		}
	}
	return set
}

// additional is the schema for the members of one schema that nothing else names.
func (c *compiler) additional(v *value) []*value {
	if a := v.get("additionalProperties"); a != nil {
		return []*value{a}
	}
	if c.opts.Closed && v.get("properties") != nil && v.get("patternProperties") == nil {
		return []*value{{kind: isBool, path: v.path + "/additionalProperties"}}
	}
	return nil
}

// group is the names that match certain patterns and no others.
type group struct {
	names   *auto.DFA // nil: all
	matched []int
}

// unnamed lists the members without a name of their own.
func (c *compiler) unnamed(s *shape, fields []field, patterns []pattern) (out []others, err error) {
	names, err := c.allowedNames(s)
	if err != nil {
		return nil, err
	}
	if len(fields) > 0 {
		if names, err = c.except(names, fields); err != nil {
			return nil, err
		}
	}
	groups := []group{{names: names}}
	for i, p := range patterns {
		if groups, err = c.divide(groups, i, p); err != nil {
			return nil, err
		}
	}
	for _, g := range groups {
		set := c.groupSet(s, g, patterns)
		if slices.ContainsFunc(set, isFalse) || g.names != nil && g.names.Empty() {
			continue
		}
		out = append(out, others{c.member(g, c.rule(set))})
	}
	return out, nil
}

// except takes the names of fields out of a language.
func (c *compiler) except(names *auto.DFA, fields []field) (*auto.DFA, error) {
	var texts []auto.Expr
	for _, f := range fields {
		texts = append(texts, auto.Text(f.name))
	}
	listed, err := auto.Compile(auto.Alt(texts...), c.budget)
	if err != nil {
		return nil, err
	}
	if names == nil {
		names = auto.All()
	}
	return auto.Minus(names, listed, c.budget)
}

// divide splits groups into the names that match a pattern and those that do not.
func (c *compiler) divide(groups []group, i int, p pattern) (out []group, err error) {
	for _, g := range groups {
		if g.names == nil {
			g.names = auto.All()
		}
		in, err := auto.And(g.names, p.language, c.budget)
		if err != nil {
			return nil, err
		}
		rest, err := auto.Minus(g.names, p.language, c.budget)
		if err != nil {
			return nil, err
		}
		if !in.Empty() {
			out = append(out, group{in, append(slices.Clone(g.matched), i)})
		}
		if !rest.Empty() {
			out = append(out, group{rest, g.matched})
		}
	}
	return out, nil
}

// groupSet lists the schemas for the members of a group.
func (c *compiler) groupSet(s *shape, g group, patterns []pattern) (set []*value) {
	for _, v := range s.objects {
		known := false
		for _, i := range g.matched {
			if patterns[i].owner == v {
				set, known = append(set, patterns[i].schema), true
			}
		}
		if !known {
			set = append(set, c.additional(v)...)
		}
	}
	return set
}

// member is the rule of a member of a group.
func (c *compiler) member(g group, val rtn.Rule) rtn.Rule {
	if g.names == nil && val == c.w.any() {
		return c.w.anyMember()
	}
	r := c.w.b.Rule()
	name := c.w.str()
	if g.names != nil {
		name = c.quoted(fmt.Sprintf("names %d", r), g.names)
	}
	c.w.b.Call(c.w.colon(c.w.call(c.w.b.Start(r), name)), val, c.w.b.End(r))
	return r
}
