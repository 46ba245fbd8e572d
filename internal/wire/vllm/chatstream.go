package vllm

import (
	"macaron/internal/chat"
	"macaron/internal/wire/chatapi"
)

// chatStream writes a chat completion chunk by chunk.
type chatStream struct {
	stream
	q     *request
	head  head
	begun []bool // by choice: its role is out
	usage chatapi.Usage
}

type chatChunk struct {
	head
	Choices        []chunkChoice  `json:"choices"`
	Usage          *chatapi.Usage `json:"usage,omitempty"`
	PromptTokenIDs []int32        `json:"prompt_token_ids,omitempty"`
}

type chunkChoice struct {
	Index        int               `json:"index"`
	Delta        delta             `json:"delta"`
	Logprobs     *chatapi.Logprobs `json:"logprobs"`
	FinishReason *string           `json:"finish_reason"`
	StopReason   any               `json:"stop_reason,omitempty"`
	TokenIDs     []int32           `json:"token_ids,omitempty"`
	Macaron      *choiceNote       `json:"macaron,omitempty"`
}

type delta struct {
	Role      string             `json:"role,omitempty"`
	Content   *string            `json:"content,omitempty"`
	ToolCalls []chatapi.ToolCall `json:"tool_calls,omitempty"`
}

// idle begins the stream, so that the line is kept alive while a long prompt is read.
func (s *chatStream) idle() error { return s.begin(0, nil) }

// begin sends the chunk with the role of a choice.
func (s *chatStream) begin(i int, start *chat.Start) error {
	if s.begun[i] {
		return nil
	}
	s.begun[i] = true
	empty := ""
	c := s.chunk(chunkChoice{Index: i, Delta: delta{Role: "assistant", Content: &empty}})
	if start != nil && s.q.tokenIDs && i == 0 {
		c.PromptTokenIDs = idsOf(start.Prompt)
	}
	return s.send(c)
}

func (s *chatStream) event(i int, e chat.Event) error {
	if e.Start != nil {
		if i == 0 {
			addUsage(&s.usage, chat.Usage{PromptTokens: e.Start.PromptTokens, CachedTokens: e.Start.CachedTokens}, true)
		}
		return s.begin(i, e.Start)
	}
	c := chunkChoice{Index: i, Logprobs: s.q.chatTokens(e.Tokens)}
	if s.q.tokenIDs {
		c.TokenIDs = idsOf(e.Tokens)
	}
	addUsage(&s.usage, chat.Usage{OutputTokens: len(e.Tokens)}, false)
	switch {
	case e.Finish != nil:
		return s.finish(c, e.Finish)
	case e.ToolCall != nil && e.ToolCall.Index > 0 && s.q.ToolChoice.Single:
		return nil
	case e.ToolCall != nil:
		c.Delta.ToolCalls = []chatapi.ToolCall{chatapi.CallPiece(*e.ToolCall)}
	default:
		c.Delta.Content = &e.Text
		if e.Choice != nil {
			c.Macaron = noteOf(e.Choice.Probabilities)
		}
	}
	return s.send(s.chunk(c))
}

// finish sends the last chunk of a choice.
func (s *chatStream) finish(c chunkChoice, f *chat.Finish) error {
	reason, text := string(f.Reason), s.q.stopText(f)
	c.FinishReason, c.StopReason, c.Delta.Content, c.Logprobs = &reason, stopReason(f), &text, s.q.chatTokens(f.Tokens)
	if s.q.tokenIDs {
		c.TokenIDs = idsOf(f.Tokens)
	}
	addUsage(&s.usage, chat.Usage{OutputTokens: len(f.Tokens)}, false)
	return s.send(s.chunk(c))
}

func (s *chatStream) done() error {
	c := s.chunk()
	c.Usage = &s.usage
	return s.end(s.q.includeUsage, c)
}

func (s *chatStream) chunk(choices ...chunkChoice) chatChunk {
	if choices == nil {
		choices = []chunkChoice{} // the usage chunk has an empty list, not null
	}
	c := chatChunk{head: s.head, Choices: choices}
	c.Object = "chat.completion.chunk"
	if s.q.everyUsage {
		now := s.usage
		c.Usage = &now
	}
	return c
}
