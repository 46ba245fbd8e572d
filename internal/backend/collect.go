package backend

import (
	"strings"

	"macaron/internal/chat"
	"macaron/internal/record"
)

// Collected is what the events of one generation add up to: the non-stream answer
// and the log's record are both the stream, collected. The zero value is ready.
type Collected struct {
	Start    chat.Start
	Choice   *chat.Choice
	Finish   *chat.Finish
	Logprobs []chat.TokenLogprob

	text, reasoning strings.Builder
	calls           []*call
}

type call struct { // behind a pointer: a Builder must not be copied
	id, name string
	args     strings.Builder
}

// maxCalls bounds the tool calls of one answer.
const maxCalls = 128

// Add takes the next event.
func (c *Collected) Add(e chat.Event) {
	switch {
	case e.Start != nil:
		c.Start = *e.Start
	case e.ToolCall != nil:
		c.addCall(*e.ToolCall)
	case e.Choice != nil:
		c.Choice = e.Choice
	case e.Finish != nil:
		c.Finish = e.Finish
	}
	c.text.WriteString(e.Text)
	c.reasoning.WriteString(e.Reasoning)
	c.Logprobs = append(c.Logprobs, e.Tokens...)
}

func (c *Collected) addCall(d chat.ToolCallDelta) {
	if d.Index < 0 || d.Index >= maxCalls {
		return
	}
	for len(c.calls) <= d.Index {
		c.calls = append(c.calls, &call{})
	}
	at := c.calls[d.Index]
	if d.ID != "" {
		at.id = d.ID
	}
	if d.Name != "" {
		at.name = d.Name
	}
	at.args.WriteString(d.Arguments)
}

// Text is the answer's text so far.
func (c *Collected) Text() string { return c.text.String() }

// Message is the assistant message so far.
func (c *Collected) Message() chat.Message {
	m := chat.Message{Role: chat.Assistant, Reasoning: c.reasoning.String()}
	if c.text.Len() > 0 {
		m.Parts = []chat.Part{{Kind: "text", Text: c.text.String()}}
	}
	for _, p := range c.calls {
		m.ToolCalls = append(m.ToolCalls, chat.ToolCall{ID: p.id, Name: p.name, Arguments: p.args.String()})
	}
	return m
}

// Record fills in what a hop's record takes from the generation and returns the
// served tokens, nil when the backend did not tell them.
func (c *Collected) Record(h *record.Hop) *record.Blob {
	h.Engine = c.Start.Engine
	h.Usage = chat.Usage{PromptTokens: c.Start.PromptTokens, CachedTokens: c.Start.CachedTokens}
	if c.Finish != nil {
		h.Usage, h.Finish = c.Finish.Usage, c.Finish.Reason
	}
	h.CostUSD = c.Start.Rate.Cost(h.Usage.PromptTokens, h.Usage.CachedTokens, h.Usage.OutputTokens)
	if c.Finish == nil || len(c.Finish.Raw) == 0 {
		return nil
	}
	b := &record.Blob{Tokens: c.Finish.Raw, Prompt: c.Finish.Prompt}
	if len(c.Finish.Logps) == len(b.Tokens) {
		b.Logps = c.Finish.Logps
	}
	return b
}
