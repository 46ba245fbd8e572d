package turn_test

import (
	"encoding/json"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/errs"
)

// divided is an engine for each adapter, of which only L1's and L2's take images.
type divided struct{ *backendtest.Scripted }

func (d divided) CapabilitiesOf(adapter string) backend.Capabilities {
	can := d.Capabilities()
	can.Images = adapter == "L1" || adapter == "L2"
	return can
}

// A request that some engines cannot serve goes to an adapter of the others, by the router's choice
// among them; where it must go elsewhere it is refused.
func TestRequestsGoToEnginesThatCanServeThem(t *testing.T) {
	r := newRig(t)
	r.Generator = divided{r.engine}
	picture := chat.Message{Role: chat.User, Parts: []chat.Part{{Kind: "text", Text: "L3: what is it?"}, {Kind: "image", Raw: json.RawMessage(`{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}`)}}}
	if got := r.talk().send(picture).done.Adapter; got != "L1" && got != "L2" {
		t.Errorf("%s answers", got)
	}
	for _, q := range r.engine.Seen() {
		if len(q.Choices) > 0 && len(q.Choices) != 2 {
			t.Errorf("the router chose among %v", q.Choices)
		}
	}
	for adapter, want := range map[string]errs.Code{"L1": "", "L3": errs.Unsupported, "L9": errs.AdapterNotFound} {
		k := r.talk()
		k.request.Adapter = adapter
		if _, err := k.try(picture); (want == "") != (err == nil) || err != nil && errs.CodeOf(err) != want {
			t.Errorf("forced to %s: %v", adapter, err)
		}
	}
	if got := r.talk().say("L3: no picture").done.Adapter; got != "L3" {
		t.Errorf("without a picture %s answers", got)
	}
	blind := newRig(t)
	if _, err := blind.talk().try(picture); errs.CodeOf(err) != errs.Unsupported || errs.As(err).Field != "messages[0].content" {
		t.Errorf("no engine takes it: %v", err)
	}
}
