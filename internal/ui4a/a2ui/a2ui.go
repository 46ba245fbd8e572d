// Package a2ui says what a card shows as messages of A2UI v0.9 over its basic catalogue, for
// hosts that speak that and no more. The card is drawn once, and each of its controls is used
// once to see what it is bound to; what A2UI cannot carry is listed as loss
// (docs/formats/ui4a-hosts.md).
package a2ui

import "fmt"

// What the messages follow.
const (
	Version = "v0.9"
	Catalog = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
)

// Loss is something of the card that the messages do not have.
type Loss struct {
	Kind string `json:"kind"` // chart, formula, icon, local, private, ...: the table of the format's page
	Name string `json:"name"` // which one, in the card's words
	Note string `json:"note"` // what became of it
}

// Export is a card as messages.
type Export struct {
	Messages []map[string]any `json:"messages"`
	Loss     []Loss           `json:"loss"`
}

// node is an element of the card as the browser has drawn it (read.js).
type node struct {
	Kind     string   `json:"k"` // column, row, list, card, text, image, rule, tabs, lost, and controls
	Text     string   `json:"text"`
	Variant  string   `json:"variant"`
	Source   string   `json:"src"`
	Loss     string   `json:"loss"` // the kind of what is lost
	Children []*node  `json:"children"`
	Titles   []string `json:"titles"` // of tabs
	Open     int      `json:"open"`   // which of them
	Tabs     []int    `json:"tabs"`   // their controls' numbers

	N       int      `json:"n"` // the control's number among those that are drawn
	Name    string   `json:"name"`
	Value   any      `json:"value"`
	Min     float64  `json:"min"`
	Max     float64  `json:"max"`
	Options []option `json:"options"`
	Many    bool     `json:"many"`

	via    []int // controls to press before this one is drawn
	bound  string
	event  *event
	secret bool
}

type option struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// event is the Action that a button sends.
type event struct {
	Kind   string         `json:"kind"`
	Name   string         `json:"name"`
	Text   string         `json:"text"`
	State  map[string]any `json:"state"`
	Asked  bool           `json:"asked"` // the host asked the person first
	Number int            `json:"number"`
}

// each calls f with a node and all below it.
func (n *node) each(f func(*node)) {
	f(n)
	for _, c := range n.Children {
		c.each(f)
	}
}

// isInput says whether a node is a control that holds a value.
func (n *node) isInput() bool {
	switch n.Kind {
	case "field", "date", "check", "slider", "choice":
		return true
	}
	return false
}

func (n *node) title() string {
	if n.Name != "" {
		return n.Name
	}
	return fmt.Sprintf("%s %d", n.Kind, n.N+1)
}
