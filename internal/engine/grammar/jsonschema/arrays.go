package jsonschema

import "macaron/internal/engine/grammar/rtn"

// arrays writes the arrays of a shape: first the positions that prefixItems names, then
// as many more as the bounds count, then a loop if there is no upper bound.
func (c *compiler) arrays(s *shape, from, to rtn.Node) error {
	if s.maxItems >= 0 && s.minItems > s.maxItems {
		return nil
	}
	if len(s.arrays) == 0 && s.minItems == 0 && s.maxItems < 0 {
		c.w.b.Call(from, c.w.anyArray(), to)
		return nil
	}
	prefix := 0
	for _, v := range s.arrays {
		if p := v.get("prefixItems"); p != nil {
			prefix = max(prefix, len(p.items))
		}
	}
	last := max(prefix, s.minItems, s.maxItems) // positions that have nodes of their own
	if s.maxItems >= 0 {
		last = s.maxItems
	}
	at, end := c.w.space(c.w.text(from, "[")), c.w.b.Node()
	if s.minItems == 0 {
		c.w.b.Text(at, "]", to)
	}
	c.w.b.Text(c.w.space(end), "]", to)
	return c.positions(s, at, end, last)
}

// positions takes the elements from a node on; behind each that may be the last one it
// can go to end.
func (c *compiler) positions(s *shape, at, end rtn.Node, last int) error {
	rest := c.element(s, -1)
	for i := 0; i < last; i++ {
		if c.w.b.Full() {
			return c.w.b.Err()
		}
		if i > 0 {
			at = c.w.space(c.w.text(at, ","))
		}
		at = c.w.call(at, c.element(s, i))
		if i+1 >= s.minItems {
			c.w.b.Eps(at, end)
		}
	}
	if s.maxItems >= 0 {
		return nil
	}
	item := c.w.b.Node()
	if last > 0 {
		c.w.b.Eps(c.w.space(c.w.text(at, ",")), item)
	} else {
		c.w.b.Eps(at, item)
	}
	behind := c.w.call(item, rest)
	c.w.b.Eps(c.w.space(c.w.text(behind, ",")), item)
	c.w.b.Eps(behind, end)
	return nil
}

// element is the rule of a position, -1 behind all prefixes.
func (c *compiler) element(s *shape, i int) rtn.Rule { return c.rule(s.elementSet(i)) }

// elementSet lists the schemas for a position.
func (s *shape) elementSet(i int) (set []*value) {
	for _, v := range s.arrays {
		p := v.get("prefixItems")
		switch {
		case i >= 0 && p != nil && i < len(p.items):
			set = append(set, p.items[i])
		case v.get("items") != nil:
			set = append(set, v.get("items"))
		}
	}
	return set
}
