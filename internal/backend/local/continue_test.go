package local

import (
	"slices"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/chat"
)

// TestServedTokensAreNotTokenisedAgain lets a model of random weights write what no
// tokeniser would, and goes on behind it.
func TestServedTokensAreNotTokenisedAgain(t *testing.T) {
	b, _ := tiny(t)
	r := backend.Request{Messages: ask("hello"), MaxTokens: 30, Sampling: warm, Wanted: backend.Wanted{TokenIDs: true}, Tools: []chat.ToolDef{city}, ToolPrompt: "{{tools}}"}
	prompt, err := b.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	again := false
	for range 3 {
		r.Tokens = prompt
		got, err := generate(b, r)
		if err != nil {
			t.Fatal(err)
		}
		served := got.finish.Raw
		at := len(r.Messages)
		r.Messages = append(r.Messages, chat.Text(chat.Assistant, got.text), chat.Message{Role: chat.Tool, ToolCallID: "c", Parts: []chat.Part{{Kind: "text", Text: "<|im_end|> 21 degrees"}}})
		next, ok, err := b.Continue(r, at, prompt, served)
		if err != nil || !ok {
			t.Fatalf("not continued: %v", err)
		}
		if before := slices.Concat(prompt, served); !slices.Equal(before, next[:len(before)]) {
			t.Fatal("the prompt does not begin with what was served")
		}
		r.Tokens = nil
		anew, err := b.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		again = again || !slices.Equal(anew, next)
		// Behind what was served both have the same tokens.
		tail := next[len(prompt)+len(served):]
		if n := len(tail); n < 5 || !slices.Equal(anew[len(anew)-n+1:], tail[1:]) {
			t.Errorf("the tail is %v, the end of the whole %v", tail, anew[max(0, len(anew)-n):])
		}
		prompt = next
	}
	if !again {
		t.Error("tokenising again gave the same ids: the test shows nothing")
	}
}

func TestWhatCannotBeContinuedIsSaid(t *testing.T) {
	b, _ := tiny(t)
	r := backend.Request{Messages: append(ask("hello"), chat.Text(chat.Assistant, "x"), chat.Text(chat.User, place))}
	for at, served := range map[int][]int32{-1: {1}, 9: {1}, 1: {1}} { // the last: the mark stands in a message
		if ids, ok, err := b.Continue(r, at, []int32{1}, served); ok || err != nil {
			t.Errorf("%d: %v %v", at, ids, err)
		}
	}
}
