package turn_test

import (
	"encoding/json"
	"strings"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/ui4a/grammar"
)

// An adapter's answers are held to the contract's language where the engine can, and where
// the client asks for nothing that would contradict it; other hops are not.
func TestAnswersAreHeldToTheContractsLanguage(t *testing.T) {
	held := func(able bool, change func(*talk)) string {
		r := newRig(t)
		can := r.engine.Capabilities()
		can.Grammars, can.JSONSchema = able, true
		r.engine.Can = &can
		k := r.talk()
		change(k)
		k.say("L3: a form")
		k.say("L1: book it")
		var of []string
		for _, q := range r.engine.Seen() {
			if c := q.Constraint; c.Kind != backend.AnyText {
				if c.Kind != backend.Grammar || c.Text != grammar.Source() || !c.Whole {
					t.Errorf("%s is held to %v", q.Revision.Name, c.Kind)
				}
				of = append(of, q.Hop.Kind+" "+q.Revision.Name)
			}
		}
		return strings.Join(of, ", ")
	}
	for name, c := range map[string]struct {
		able   bool
		change func(*talk)
		want   string
	}{
		"able":   {true, func(*talk) {}, "answer L3"},
		"unable": {false, func(*talk) {}, ""},
		"format": {true, func(k *talk) { k.request.Sampling.ResponseFormat = json.RawMessage(`{"type":"json_object"}`) }, ""},
		"tools": {true, func(k *talk) {
			k.request.Tools = []chat.ToolDef{{Name: "look", Parameters: json.RawMessage(`{"type":"object"}`)}}
		}, ""},
	} {
		if got := held(c.able, c.change); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}
