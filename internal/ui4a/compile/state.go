package compile

import (
	"regexp"
	"strings"

	"macaron/internal/ui4a/tsx"
)

var stateKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// state looks at the keys of declared state: an Action reads nothing that was not
// declared, so each is a literal of the source.
func (c *card) state() {
	noai := map[string]bool{}
	for _, k := range c.keys() {
		noai[k.Name] = k.NoAI
	}
	for i, t := range c.Tokens {
		name := c.TextOf(i)
		if t.Kind != tsx.Word || name != "usePersistedState" && name != "usePrivateState" {
			continue
		}
		open := c.argumentsOf(i)
		if !c.Is(open, "(") {
			continue
		}
		switch {
		case !c.isString(open+1) || !c.Is(open+2, ",") && !c.Is(open+2, ")"):
			c.wrong(open+1, "state-key", "the key of %s is no text of the source", "write %s(\"name\", …)", name, name)
		case !stateKey.MatchString(c.unquoted(open + 1)):
			c.wrong(open+1, "state-key", "%.60q is no key", "begin with a letter, then letters, digits, _ . -; at most 64", c.unquoted(open+1))
		case name == "usePersistedState" && noai[c.unquoted(open+1)]:
			c.wrong(open+1, "state-key", "%q is declared twice, once as private", "use two keys", c.unquoted(open+1))
		}
	}
}

var runsByItself = words("useEffect useLayoutEffect useInsertionEffect useMemo setTimeout setInterval requestAnimationFrame")

// effects looks at what runs without a gesture of the person.
func (c *card) effects() {
	for i := range c.Tokens {
		if c.Tokens[i].Kind != tsx.Word || !runsByItself[c.TextOf(i)] || !c.Is(i+1, "(") {
			continue
		}
		sent, begun, ended := -1, -1, false
		for k := i + 2; k < c.Next(i+1); k++ {
			switch name := c.TextOf(k); {
			case (name == "sendMessage" || name == "sendAction") && c.Is(k+1, "("):
				sent = k
			case (name == "setInterval" || name == "requestAnimationFrame" || name == "addEventListener") && c.Is(k+1, "("):
				begun = k
			case strings.HasPrefix(name, "clear") || strings.HasPrefix(name, "cancel") || name == "removeEventListener" || name == "return" || name == "once":
				ended = true
			}
		}
		if sent >= 0 {
			c.wrong(sent, "no-gesture", "%s in %s is refused: only what a person does is sent", "call it in onClick or another handler", c.TextOf(sent), c.TextOf(i))
		}
		if begun >= 0 && !ended && strings.HasSuffix(c.TextOf(i), "Effect") {
			c.warn(begun, "no-cleanup", "%s goes on when the card has changed", "return a function from the effect that ends it", c.TextOf(begun))
		}
	}
}

// cardProps tells of a card that expects props: there are none.
func (c *card) cardProps() {
	i := c.exported.from
	if c.exported.at < 0 {
		return
	}
	if at, ok := c.top[c.exported.name]; ok && c.exported.name != "" {
		i = at
	}
	for k := i; k < len(c.Tokens) && k < i+6; k++ {
		if !c.Is(k, "(") {
			continue
		}
		if c.parameters(k) && k+1 < len(c.Tokens) && !c.Is(k+1, ")") {
			c.warn(k+1, "card-props", "the card is given no props", "keep what it needs in constants and in state")
		}
		return
	}
}
