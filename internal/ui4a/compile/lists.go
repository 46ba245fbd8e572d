package compile

import "macaron/internal/ui4a/tsx"

// lists looks at what .map makes: every element needs a key, and a place in the list is
// a poor one.
func (c *card) lists() {
	for i := range c.Tokens {
		if !c.Is(i, "map") || !c.Is(i-1, ".") && !c.Is(i-1, "?.") || !c.Is(i+1, "(") {
			continue
		}
		index, body := c.callback(i + 1)
		if body < 0 {
			continue
		}
		for _, e := range c.Elements {
			if e.Start >= body && e.Start < c.Next(i+1) && c.drawn(e.Start, i+1) {
				c.keyOf(e, index)
			}
		}
	}
}

// callback gives the name of an arrow function's second parameter, and where its body
// begins; -1 if the argument is no arrow function.
func (c *card) callback(open int) (index string, body int) {
	i := open + 1
	if c.Is(i, "async") {
		i++
	}
	arrow := c.Next(min(i, len(c.Tokens)-1))
	if !c.Is(arrow, "=>") {
		return "", -1
	}
	for k := i + 1; c.Is(i, "(") && k < arrow-1; k = c.Next(k) {
		if c.Is(k, ",") {
			return c.wordAt(k + 1), arrow + 1
		}
	}
	return "", arrow + 1
}

// drawn says whether an element is given back by the call itself: between it and the
// call are only parentheses and the body's braces.
func (c *card) drawn(token, call int) bool {
	for g := c.Tokens[token].Group; g >= 0; g = c.Groups[g].Parent {
		if c.Groups[g].Open == call {
			return true
		}
		if k := c.Groups[g].Kind; k != tsx.Paren && k != tsx.Block || c.Is(c.Groups[g].Open-1, "map") {
			return false
		}
		if k := c.Groups[g]; k.Kind == tsx.Block && !c.Is(token-1, "return") && !c.Is(token-1, "(") && !c.Is(token-1, "?") && !c.Is(token-1, ":") && !c.Is(token-1, "&&") {
			return false // a constant of the body
		}
	}
	return false
}

// keyOf looks at the key of an element of a list.
func (c *card) keyOf(e tsx.Element, index string) {
	key, ok := attribute(e, "key")
	switch {
	case !ok && e.Name == "":
		c.warn(e.Start, "missing-key", "the fragment is one of a list and has no key", "write <Fragment key={item.id}>…</Fragment>")
	case !ok && !c.spreads(e):
		c.warn(e.Start, "missing-key", "<%s> is one of a list and has no key", "write <%s key={item.id}>, with what is the item's own", e.Name, e.Name)
	case ok && index != "" && key.Value >= 0 && c.onlyIndex(key.Value, index):
		c.warn(key.At, "index-key", "the key is the place in the list: when the list changes, items get each other's state", "use what is the item's own, as its id or name")
	}
}

// onlyIndex says whether an expression reads the index and nothing else.
func (c *card) onlyIndex(open int, index string) bool {
	found := false
	for i := open + 1; i < c.Next(open)-1; i++ {
		if c.Tokens[i].Kind != tsx.Word {
			continue
		}
		switch name := c.TextOf(i); {
		case name == index:
			found = true
		case name != "String" && name != "toString":
			return false
		}
	}
	return found
}
