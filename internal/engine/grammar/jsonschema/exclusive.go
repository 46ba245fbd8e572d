package jsonschema

import "slices"

// exclusive refuses oneOf unless it shows that no value has shapes of two parts. It
// looks at kinds, listed values, ranges, lengths, and at members that both parts
// require.
func (c *compiler) exclusive(alts *value, parts [][]shape) error {
	for i := range parts {
		for j := range i {
			for a := range parts[i] {
				for b := range parts[j] {
					apart, err := c.apart(&parts[i][a], &parts[j][b], 4)
					if err != nil {
						return err
					}
					if !apart {
						return unsupported(alts, "oneOf is supported where no value can satisfy two of its schemas; %d and %d were not shown to be so (%s)",
							j, i, "give them different types, or a required member with different const values, or use anyOf")
					}
				}
			}
		}
	}
	return nil
}

// apart tells that no value has both shapes. Depth bounds how deep it looks into
// members.
func (c *compiler) apart(a, b *shape, depth int) (bool, error) {
	if a.listed || b.listed {
		return c.listsApart(a, b)
	}
	common := a.kinds & b.kinds
	if common&(isNull|isBool) != 0 {
		return false, nil
	}
	if common&isNumber != 0 && !rangesApart(a, b) {
		return false, nil
	}
	if common&isString != 0 && !countsApart(a.minLength, a.maxLength, b.minLength, b.maxLength) {
		if ok, err := c.languagesApart(a, b); !ok {
			return false, err
		}
	}
	if common&isArray != 0 && !countsApart(a.minItems, a.maxItems, b.minItems, b.maxItems) {
		return false, nil
	}
	if common&isObject != 0 && !countsApart(a.minProperties, a.maxProperties, b.minProperties, b.maxProperties) {
		return c.membersApart(a, b, depth)
	}
	return true, nil
}

// listsApart tells that no listed value of one has the other shape.
func (c *compiler) listsApart(a, b *shape) (bool, error) {
	if !a.listed {
		a, b = b, a
	}
	for _, v := range a.values {
		inA, err := c.has(a, v)
		if err != nil {
			return false, err
		}
		inB, err := c.has(b, v)
		if err != nil {
			return false, err
		}
		if inA && inB && (!b.listed || slices.ContainsFunc(b.values, func(o *value) bool { return equal(o, v) })) {
			return false, nil
		}
	}
	return true, nil
}

func countsApart(min1, max1, min2, max2 int) bool {
	return max1 >= 0 && max1 < min2 || max2 >= 0 && max2 < min1
}

func rangesApart(a, b *shape) bool {
	under := func(hi, lo bound) bool {
		return hi.at != nil && lo.at != nil && (hi.at.Cmp(lo.at) < 0 || hi.at.Cmp(lo.at) == 0 && (hi.open || lo.open))
	}
	return under(a.max, b.min) || under(b.max, a.min)
}

// languagesApart tells that no string keeps to the patterns of both.
func (c *compiler) languagesApart(a, b *shape) (bool, error) {
	if len(a.patterns) == 0 || len(b.patterns) == 0 {
		return false, nil
	}
	both := *a
	both.patterns = append(slices.Clone(a.patterns), b.patterns...)
	both.minLength = max(a.minLength, b.minLength)
	d, err := c.language(&both)
	return err == nil && d.Empty(), err
}

// membersApart looks for a name that one requires and for which no value satisfies
// both.
func (c *compiler) membersApart(a, b *shape, depth int) (bool, error) {
	if depth == 0 {
		return false, nil
	}
	pa, err := c.patternsOf(a)
	if err != nil {
		return false, err
	}
	pb, err := c.patternsOf(b)
	if err != nil {
		return false, err
	}
	for _, name := range slices.Concat(a.required, b.required) {
		va, vb := c.applicable(a, name, pa), c.applicable(b, name, pb)
		if slices.ContainsFunc(slices.Concat(va, vb), isFalse) {
			return true, nil // one requires it, which no object of both shapes can have
		}
		if apart, err := c.setsApart(va, vb, depth-1); apart || err != nil {
			return apart, err
		}
	}
	return false, nil
}

// setsApart tells that no value satisfies two sets.
func (c *compiler) setsApart(a, b []*value, depth int) (bool, error) {
	as, err := c.expand(a)
	if err != nil {
		return false, err
	}
	bs, err := c.expand(b)
	if err != nil {
		return false, err
	}
	for i := range as {
		for j := range bs {
			if apart, err := c.apart(&as[i], &bs[j], depth); !apart || err != nil {
				return false, err
			}
		}
	}
	return true, nil
}
