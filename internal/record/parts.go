package record

import (
	"macaron/internal/adapter"
	"macaron/internal/chat"
)

// PartOf says that a turn answers one part of another turn's request. It is a turn like
// any other, but no client knows it: its conversation is not found by content.
type PartOf struct {
	Turn  string `json:"turn"`
	Index int    `json:"index"` // among the parts, from 0
}

// Joined is the answer of a turn that several specialists answered, each its part in a
// turn of its own. It takes the place of the answer hop.
type Joined struct {
	Parts   []JoinedPart      `json:"parts"`
	Message chat.Message      `json:"message"` // as the client saw it
	Finish  chat.FinishReason `json:"finish"`
}

// JoinedPart is what one of them did.
type JoinedPart struct {
	Turn    string           `json:"turn"`
	Adapter adapter.Revision `json:"adapter"`
	Request string           `json:"request"`
	Text    string           `json:"text"`
	After   int              `json:"after,omitempty"` // the part whose answer it builds on, from 1; 0: none
	Usage   chat.Usage       `json:"usage"`
}

// Compacted says that an adapter's views shorten the oldest turns of the conversation from
// this turn on: of Turns turns the oldest Dropped are left out; of the others the
// user's words are clipped to Keep runes and the answer is its summary.
type Compacted struct {
	Adapter string `json:"adapter"`
	Turns   int    `json:"turns"`
	Dropped int    `json:"dropped"`
	Keep    int    `json:"keep"`              // runes of a user's message in a shortened turn
	Before  int    `json:"before"`            // tokens of the prompt before
	Tokens  int    `json:"tokens"`            // and after
	Limit   int    `json:"limit"`             // tokens that a prompt may have
	Guessed bool   `json:"guessed,omitempty"` // the engine does not count tokens
}

// Kind implements Body.
func (Joined) Kind() Kind { return KindJoined }

// Kind implements Body.
func (Compacted) Kind() Kind { return KindCompacted }
