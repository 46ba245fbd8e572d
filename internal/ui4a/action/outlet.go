package action

import (
	"encoding/json"
	"strings"
)

// Outlet is a way other than an Action by which something of a card leaves its surface.
type Outlet string

// The outlets.
const (
	ErrorText  Outlet = "error"      // what a card threw, for the model that repairs it
	Title      Outlet = "title"      // the name under which a card is listed
	Log        Outlet = "log"        // the program's log and the record log
	Trace      Outlet = "trace"      // attributes of spans
	Screenshot Outlet = "screenshot" // a picture, for a judge; its text is that which is shown
	Row        Outlet = "row"        // a row of training data
)

// Outlets are all of them.
var Outlets = []Outlet{ErrorText, Title, Log, Trace, Screenshot, Row}

// untold stands at an outlet for what was not let out.
var untold = map[Outlet]string{
	ErrorText: "the card failed while it held private values; what it said is not shown",
	Title:     "Card",
	Log:       hidden,
	Trace:     hidden,
	Row:       "",
}

// Text gives what an outlet may have of a text that the card made. As long as the
// surface holds no NoAI value, that is the text, up to MaxText bytes. After that it is a
// literal of the card's source or a fixed text, so no search has to succeed.
// Of a screenshot nothing is given then: Picture says so.
func (g *Guard) Text(o Outlet, text string) string {
	switch {
	case g.Holds() && !g.contract.Static(text):
		return untold[o]
	case len(text) > MaxText:
		return strings.ToValidUTF8(text[:MaxText], "")
	}
	return text
}

// Picture says whether a screenshot of the surface may leave it: never once it holds a
// NoAI value, since a card can draw what it holds.
func (g *Guard) Picture() bool { return !g.Holds() }

// Keep says whether a value of a key may enter the record log and what is made of it:
// the key is declared and not NoAI, and the value has none in it.
func (g *Guard) Keep(key string, value json.RawMessage) bool {
	declared, known := g.contract.Keys[key]
	v, err := decode(value)
	if !known || declared.NoAI || err != nil || len(value) > MaxAction {
		return false
	}
	var loose []string
	leaves(v, func(s string) {
		if !g.contract.Static(s) {
			loose = append(loose, s)
		}
	})
	return !g.taints(loose...)
}

// heightStep is the grain of a card's height while the surface holds NoAI values.
const heightStep = 64

// Height is the height that a card may take, in CSS pixels: exact, or rounded up to a
// coarse step once the surface holds NoAI values.
func (g *Guard) Height(px int) int {
	px = min(max(px, 0), 8192)
	if !g.Holds() {
		return px
	}
	return (px + heightStep - 1) / heightStep * heightStep
}

// Record gives the form of an Action that may be logged and exported: state that a
// model may see, and names of the rest. A refused Action keeps no state and no text.
func (g *Guard) Record(a Action, r Receipt) Action {
	visible, _ := g.split(a)
	a.State = map[string]json.RawMessage{}
	a.Origin.Node = g.Text(Log, a.Origin.Node)
	if r.Outcome == Refused || g.look(a, visible) != "" {
		a.Text, a.Name = g.Text(Log, a.Text), g.Text(Log, a.Name)
		return a
	}
	for key, v := range visible {
		if text, err := json.Marshal(v); err == nil {
			a.State[key] = text
		}
	}
	return a
}
