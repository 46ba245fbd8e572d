package action

import (
	"strings"

	"macaron/internal/errs"
)

// Contract is what a card's source declares: the allow-list from which everything that
// a model sees of the card is made. It comes from the compiler, never from the page.
type Contract struct {
	Surface  string         `json:"surface"`
	Revision string         `json:"revision"`
	Source   string         `json:"source"` // the TSX, which the model wrote and so knows
	Keys     map[string]Key `json:"keys"`   // the state that the source declares
}

// Key is one declared key of a card's state.
type Key struct {
	NoAI bool `json:"noai,omitempty"` // declared with usePrivateState or PrivateField
}

// Check refuses a contract that could not have come from a card.
func (c Contract) Check() error {
	if c.Surface == "" || c.Revision == "" {
		return errs.New(errs.InvalidRequest, "a contract names a surface and a revision", "")
	}
	for key := range c.Keys {
		if !IsName(key) {
			return errs.New(errs.InvalidRequest, "a key of a contract is no name", "use letters, digits, _ . -")
		}
	}
	return nil
}

// Static says whether a text is a whole string literal of the card's source. Such a text
// tells the model nothing that it did not write itself, but for which one was chosen.
// A template with an expression in it is no literal.
func (c Contract) Static(text string) bool {
	if text == "" || strings.ContainsAny(text, "\"'`\\\n") || strings.Contains(text, "${") {
		return false
	}
	for _, quote := range []string{`"`, `'`, "`"} {
		if strings.Contains(c.Source, quote+text+quote) {
			return true
		}
	}
	return false
}
