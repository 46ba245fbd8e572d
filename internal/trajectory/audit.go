package trajectory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"macaron/internal/contract"
	"macaron/internal/transcript"
)

// Plain is what every audit says.
const Plain = "Equality of contracts, engines and tools is not equality of behaviour; only the recorded tokens and results below compare what was done."

// Pin is a part that two runs were made of.
type Pin struct {
	What  string `json:"what"`
	A     string `json:"a"`
	B     string `json:"b"`
	Equal bool   `json:"equal"`
}

// Audit compares two runs: what they were made of, and what they did.
type Audit struct {
	A         string            `json:"a"`
	B         string            `json:"b"`
	Statement string            `json:"statement"`
	Pins      []Pin             `json:"pins"`
	SamePins  bool              `json:"same_pins"`
	Contract  []contract.Change `json:"contract_changes"`
	Behaviour Behaviour         `json:"behaviour"`
}

// Behaviour compares turn by turn, as far as both runs go.
type Behaviour struct {
	TurnsA       int    `json:"turns_a"`
	TurnsB       int    `json:"turns_b"`
	Tokens       Tally  `json:"tokens"`      // of answers, by served ids
	Prompts      Tally  `json:"prompts"`     // of turns, by served ids
	Calls        Tally  `json:"calls"`       // names and arguments
	Results      Tally  `json:"results"`     // whole values of calls that are equal
	FirstOther   string `json:"first_other"` // where they part; "" where they do not
	SameAnswer   bool   `json:"same_answer"`
	SameBehavior bool   `json:"same_behaviour"`
}

// Tally counts what was compared, and what was equal. Unknown could not be compared.
type Tally struct {
	Compared int `json:"compared"`
	Equal    int `json:"equal"`
	Unknown  int `json:"unknown"`
}

func (t *Tally) take(known, equal bool) bool {
	switch {
	case !known:
		t.Unknown++
	case equal:
		t.Compared, t.Equal = t.Compared+1, t.Equal+1
	default:
		t.Compared++
	}
	return !known || equal
}

// Compare audits two runs. Their contracts may be nil where they are not at hand.
func Compare(a, b *transcript.Run, ka, kb *contract.Contract) (Audit, error) {
	out := Audit{A: a.Head.Run, B: b.Head.Run, Statement: Plain, SamePins: true, Contract: []contract.Change{}}
	for _, p := range pins(a, b) {
		out.Pins = append(out.Pins, p)
		out.SamePins = out.SamePins && p.Equal
	}
	if ka != nil && kb != nil {
		changes, err := contract.Diff(ka, kb)
		if err != nil {
			return out, err
		}
		out.Contract = append(out.Contract, changes...)
	}
	out.Behaviour = behaviour(a, b)
	return out, nil
}

func pins(a, b *transcript.Run) []Pin {
	x, y := parts(a), parts(b)
	var out []Pin
	for i, p := range x {
		out = append(out, Pin{p[0], p[1], y[i][1], p[1] == y[i][1]})
	}
	return out
}

// parts are what a run was made of.
func parts(r *transcript.Run) [][2]string {
	o := r.Opened
	limits, err := json.Marshal(o.Limits)
	if err != nil {
		limits = nil // numbers can always be written
	}
	return [][2]string{
		{"contract", string(r.Head.Contract)}, {"specialist", string(o.Pins.Adapter.Hash)}, {"engine", o.Pins.Engine.Name + " " + o.Pins.Engine.Version}, {"base", o.Pins.Engine.Base},
		{"template", o.Pins.Engine.Template}, {"tokenizer", o.Pins.Engine.Tokenizer}, {"tools", string(o.Pins.Tools)}, {"mode", o.Mode}, {"limits", string(limits)},
		{"seed", fmt.Sprint(o.Seed)}, {"purpose", string(r.Head.Purpose)}, {"task", o.Task.Instruction},
	}
}

func behaviour(a, b *transcript.Run) Behaviour {
	out := Behaviour{TurnsA: len(a.Turns), TurnsB: len(b.Turns), SameAnswer: answer(a) == answer(b)}
	pa, pb := Prompts(a), Prompts(b)
	for i := range min(len(a.Turns), len(b.Turns)) {
		x, y := a.Turns[i], b.Turns[i]
		known := x.Head.Blob != nil && y.Head.Blob != nil && len(x.Head.Blob.Tokens) > 0
		out.part(out.Prompts.take(pa[i] != nil && pb[i] != nil, slices.Equal(pa[i], pb[i])), "turn %d: the prompt", i+1)
		same := known && slices.Equal(x.Head.Blob.Tokens, y.Head.Blob.Tokens)
		out.part(out.Tokens.take(known, same), "turn %d: the answer's tokens", i+1)
		out.part(known || x.Hop.Message.Text() == y.Hop.Message.Text(), "turn %d: the answer's text", i+1)
	}
	out.calls(a.Calls(), b.Calls())
	if out.TurnsA != out.TurnsB {
		out.part(false, "after turn %d: one goes on", min(out.TurnsA, out.TurnsB))
	}
	out.SameBehavior = out.FirstOther == "" && out.SameAnswer
	return out
}

func (b *Behaviour) calls(x, y []*transcript.Call) {
	for i := range min(len(x), len(y)) {
		p, q := x[i].Called, y[i].Called
		known := p != nil && q != nil
		same := known && p.Name == q.Name && bytes.Equal(p.Arguments, q.Arguments)
		b.part(b.Calls.take(known, same), "call %d: another tool or other arguments", i+1)
		r, s := x[i].Returned, y[i].Returned
		if known && same {
			there := r != nil && s != nil
			b.part(b.Results.take(there, there && bytes.Equal(r.Value, s.Value) && (r.Error == nil) == (s.Error == nil)), "call %d: another result of %s", i+1, p.Name)
		}
	}
	if len(x) != len(y) {
		b.part(false, "%d calls and %d", len(x), len(y))
	}
}

// part notes the first place where the runs differ.
func (b *Behaviour) part(same bool, format string, args ...any) {
	if !same && b.FirstOther == "" {
		b.FirstOther = fmt.Sprintf(format, args...)
	}
}

func answer(r *transcript.Run) string {
	if r.Closed == nil {
		return ""
	}
	return r.Closed.Answer
}
