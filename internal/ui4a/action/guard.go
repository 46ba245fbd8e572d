package action

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"macaron/internal/canonical"
)

// Guard decides, for one surface, what leaves it. It is not safe for concurrent use.
type Guard struct {
	contract Contract
	secrets  *Secrets
	last     int64 // the last sequence
}

// NewGuard watches over a surface. secrets may be empty, and may grow while it does.
func NewGuard(c Contract, s *Secrets) *Guard { return &Guard{contract: c, secrets: s} }

// Revise puts a new revision of the card in force. What the surface held stays NoAI.
func (g *Guard) Revise(c Contract) { g.contract = c }

// Resume goes on where a guard of the same surface was: behind its last sequence, and
// private if the surface has held a NoAI value.
func (g *Guard) Resume(sequence int64, private bool) {
	g.last = max(g.last, sequence)
	g.secrets.any = g.secrets.any || private
}

// Hold takes a NoAI value that the host keeps for the surface, as JSON.
func (g *Guard) Hold(value json.RawMessage) error {
	v, err := decode(value)
	if err == nil && !isEmpty(v) {
		g.secrets.Add(v)
	}
	return err
}

// isEmpty says whether a value is that of an input that nobody has used.
func isEmpty(v any) bool { return v == nil || v == "" || v == false }

// Holds says whether the surface holds, or has held, a NoAI value.
func (g *Guard) Holds() bool { return g.secrets.any }

// Act gives the receipt of an Action. Saw in it is all that may reach a model.
// NoAI values in the Action's state become values to look for, from now on.
func (g *Guard) Act(a Action) Receipt {
	r := Receipt{Action: a.ID, Surface: g.contract.Surface, Sequence: a.Sequence, Time: a.Time}
	if a.Origin.Surface != g.contract.Surface || a.Origin.Revision != g.contract.Revision {
		return r.refuse(Stale)
	}
	if a.Sequence <= g.last {
		return r.refuse(Replayed)
	}
	g.last = a.Sequence
	visible, withheld := g.split(a)
	r.Withheld = withheld
	if a.Execution == Local || a.Visibility.Audience == User {
		r.Outcome, r.Message, r.Withheld = Kept, "This stays with you; the model saw nothing.", sortedKeys(a.State)
		return r
	}
	if reason := g.look(a, visible); reason != "" {
		r.Withheld = sortedKeys(a.State)
		return r.refuse(reason)
	}
	r.Sent = sortedKeys(visible)
	return r.send(view(a, visible, g.declaredOf(r.Withheld)))
}

// declaredOf are those of some names that the source declares: the model knows them.
func (g *Guard) declaredOf(names []string) (declared []string) {
	for _, name := range names {
		if _, ok := g.contract.Keys[name]; ok && !slices.Contains(declared, name) {
			declared = append(declared, name)
		}
	}
	return declared
}

func (r Receipt) refuse(why Reason) Receipt {
	r.Outcome, r.Reason, r.Message = Refused, why, messages[why]
	return r
}

// split parts an Action's state by the contract and the Action's own pointers: what a
// model may see, as decoded values, and the keys of which it sees nothing or not all.
func (g *Guard) split(a Action) (visible map[string]any, withheld []string) {
	visible = map[string]any{}
	for _, key := range sortedKeys(a.State) {
		v, err := decode(a.State[key])
		declared, known := g.contract.Keys[key]
		if err == nil && known && declared.NoAI && !isEmpty(v) {
			g.secrets.meet(v)
		}
		if err != nil || !known || declared.NoAI {
			withheld = append(withheld, key)
			continue
		}
		visible[key] = v
	}
	for _, p := range a.Visibility.NoAI {
		if steps, err := parsePointer(p); err == nil {
			withheld = append(withheld, g.takeOut(visible, steps)...)
		}
	}
	return visible, withheld
}

// takeOut makes NoAI what a pointer leads to.
func (g *Guard) takeOut(visible map[string]any, steps []string) (withheld []string) {
	_, taken := take(visible, steps)
	if taken == nil {
		return nil
	}
	if !isEmpty(taken) {
		g.secrets.Add(taken)
	}
	return []string{steps[0]}
}

// look says why an Action may not leave; "" lets it.
func (g *Guard) look(a Action, visible map[string]any) Reason {
	if g.Holds() && (a.Kind == Message && !g.contract.Static(a.Text) || a.Kind == Event && !g.contract.Static(a.Name)) {
		return DynamicText
	}
	var loose []string
	if said := a.Text + a.Name; !g.contract.Static(said) {
		loose = append(loose, said)
	}
	for _, key := range sortedKeys(visible) {
		leaves(visible[key], func(s string) {
			if !g.contract.Static(s) {
				loose = append(loose, s)
			}
		})
	}
	if g.taints(loose...) {
		return Tainted
	}
	return ""
}

// taints says whether texts have, each or put together, a NoAI value or a piece of one.
func (g *Guard) taints(texts ...string) bool {
	if g.secrets.over && len(texts) > 0 {
		return true
	}
	if len(g.secrets.values) == 0 {
		return false
	}
	n := newNeedles(g.secrets.values)
	for _, t := range texts {
		if n.in(t) {
			return true
		}
	}
	return len(texts) > 1 && n.in(strings.Join(texts, ""))
}

// view is what a model reads of an Action: a message's text as it is, or one line of
// JSON with sorted keys. withheld are names that the source declares.
func view(a Action, visible map[string]any, withheld []string) string {
	if a.Kind == Message {
		return a.Text
	}
	told := map[string]any{"action": a.Name, "surface": a.Origin.Surface, "state": visible}
	if len(withheld) > 0 {
		told["withheld"] = withheld
	}
	text, err := canonical.Bytes(told)
	if err != nil {
		return "" // numbers out of range: nothing is seen rather than half
	}
	return string(text)
}

func (r Receipt) send(saw string) Receipt {
	if saw == "" {
		return r.refuse(Tainted)
	}
	r.Outcome, r.Saw, r.Message = Sent, saw, "The model saw exactly the text below."
	return r
}

// decode reads a JSON value with its numbers as they were written.
func decode(text json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, refuse("state", "a value is no JSON")
	}
	return v, nil
}
