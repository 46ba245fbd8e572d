package turn_test

import (
	"context"
	"encoding/json"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/turn"
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
	picture := picture("L3: what is it?")
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

func picture(text string) chat.Message {
	return chat.Message{Role: chat.User, Parts: []chat.Part{{Kind: "text", Text: text}, {Kind: "image", Raw: json.RawMessage(`{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}`)}}}
}

// What a client sent turns ago is in the view of whoever answers now: an engine that takes no
// images gets none, whether the request resends the image, names the turn behind it, or brings
// a history that nobody knows.
func TestImagesOfEarlierTurnsGoToEnginesThatTakeThem(t *testing.T) {
	r := newRig(t)
	r.Generator = divided{r.engine}
	k := r.talk()
	first := k.send(picture("L1: what is it?")).done
	for _, adapter := range []string{"", "L3"} {
		q := turn.Request{ID: "req", Owner: "local", ParentTurn: first.Turn, Adapter: adapter, Messages: []chat.Message{chat.Text(chat.User, "L3: and now?")}}
		out := &sink{}
		err := r.Run(t.Context(), q, out)
		if got := out.done.Adapter; adapter == "" && (err != nil || got != "L1" && got != "L2") {
			t.Errorf("behind a picture %q answers, %v", got, err)
		}
		if adapter == "L3" && (errs.CodeOf(err) != errs.Unsupported || errs.As(err).Field != "messages") {
			t.Errorf("forced to L3 behind a picture: %v", err)
		}
		if report, err := r.Dry(t.Context(), q); adapter == "" && (err != nil || report.Adapter != out.done.Adapter) {
			t.Errorf("the dry run says %q, %v", report.Adapter, err)
		}
	}
	if got := k.say("L3: the same, resent").done.Adapter; got != "L1" && got != "L2" {
		t.Errorf("behind a resent picture %s answers", got)
	}
	foreign := r.talk()
	foreign.history = []chat.Message{picture("elsewhere"), chat.Text(chat.Assistant, "a cat")}
	if got := foreign.say("L3: and now?").done.Adapter; got != "L1" && got != "L2" {
		t.Errorf("behind a picture of another server's conversation %s answers", got)
	}
	for _, q := range r.engine.Seen() {
		for _, m := range q.Messages {
			if len(m.Parts) > 1 && q.Revision.Name != "L1" && q.Revision.Name != "L2" {
				t.Errorf("the engine of %s got %v", q.Revision.Name, m)
			}
		}
	}
}

// A picture in the result of a tool is in the view of the specialist that called it, and of
// nobody else's.
func TestImagesOfToolResultsAreTheCallers(t *testing.T) {
	r := newRig(t)
	r.Generator = divided{r.engine}
	r.engine.On = func(_ context.Context, q backend.Request, emit func(chat.Event) bool) (bool, error) {
		if len(q.Tools) == 0 || q.Messages[len(q.Messages)-1].Role == chat.Tool {
			return false, nil
		}
		backendtest.Emit(emit, chat.Event{ToolCall: &chat.ToolCallDelta{ID: "call_1", Name: "look", Arguments: "{}"}})
		return true, nil
	}
	result := picture("")
	result.Role, result.ToolCallID = chat.Tool, "call_1"
	look := []chat.ToolDef{{Name: "look", Parameters: json.RawMessage(`{"type":"object"}`)}}
	for adapter, takes := range map[string]bool{"L1": true, "L3": false} {
		k := r.talk()
		k.request.Tools = look
		k.say(adapter + ": look")
		_, err := k.try(result)
		if takes != (err == nil) || err != nil && errs.CodeOf(err) != errs.Unsupported {
			t.Fatalf("%s got the picture that it called for: %v", adapter, err)
		}
		if !takes {
			continue
		}
		k.request.Tools = nil
		if got := k.say("L3: next").done.Adapter; got != "L3" {
			t.Errorf("a picture that only L1 sees kept the next turn at %s", got)
		}
		if got := k.say("L1: next").done.Adapter; got != "L1" {
			t.Errorf("%s answers", got)
		}
	}
}
