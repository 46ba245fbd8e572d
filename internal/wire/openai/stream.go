package openai

import (
	"encoding/json"
	"net/http"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/turn"
	"macaron/internal/wire/chatapi"
	"macaron/internal/wire/sse"
)

type chunk struct {
	ID      string           `json:"id"`
	Object  string           `json:"object"`
	Created int64            `json:"created"`
	Model   string           `json:"model"`
	Choices []chunkChoice    `json:"choices"`
	Usage   *chatapi.Usage   `json:"usage,omitempty"`
	Macaron *chatapi.Macaron `json:"macaron,omitempty"`
}

type chunkChoice struct {
	Index        int               `json:"index"`
	Delta        delta             `json:"delta"`
	Logprobs     *chatapi.Logprobs `json:"logprobs"`
	FinishReason *string           `json:"finish_reason"`
}

type delta struct {
	Role      string             `json:"role,omitempty"`
	Content   *string            `json:"content,omitempty"`
	Reasoning string             `json:"reasoning_content,omitempty"`
	ToolCalls []chatapi.ToolCall `json:"tool_calls,omitempty"`
}

// streamSink writes the events of a turn as chunks.
type streamSink struct {
	chatapi.Opening
	w            *sse.Writer
	header       http.Header
	head         answerHead
	includeUsage bool
	logprobs     bool
}

// Chosen implements turn.Sink: the headers are set, and nothing is sent yet.
func (s *streamSink) Chosen(r turn.Report) error {
	s.Opening.Chosen(func() {
		s.head.report = r
		chatapi.Headers(s.header, r)
	})
	return nil
}

// begin sends the status line and the chunk with the role.
func (s *streamSink) begin() error {
	empty := ""
	return s.send(delta{Role: "assistant", Content: &empty}, nil)
}

// Event implements turn.Sink.
func (s *streamSink) Event(e chat.Event) error {
	return s.w.Together(e.More, func() error { return s.Send(func() error { return s.event(e) }) })
}

func (s *streamSink) event(e chat.Event) error {
	var lp *chatapi.Logprobs
	if s.logprobs {
		lp = chatapi.LogprobsOf(e.Tokens)
	}
	switch {
	case e.Text != "" || lp != nil:
		return s.send(delta{Content: &e.Text}, lp)
	case e.Reasoning != "":
		return s.send(delta{Reasoning: e.Reasoning}, nil)
	case e.ToolCall != nil:
		return s.send(delta{ToolCalls: []chatapi.ToolCall{chatapi.CallPiece(*e.ToolCall)}}, nil)
	}
	return nil
}

// Done implements turn.Sink: the finish chunk, the usage if asked for, the end.
func (s *streamSink) Done(r turn.Report, why chat.FinishReason, u chat.Usage) error {
	return s.w.Together(false, func() error { return s.Send(func() error { return s.done(r, why, u) }) })
}

func (s *streamSink) done(r turn.Report, why chat.FinishReason, u chat.Usage) error {
	s.head.report = r
	reason := string(why)
	last := s.chunk(chunkChoice{FinishReason: &reason})
	last.Macaron = s.head.macaron()
	if err := s.write(last); err != nil {
		return err
	}
	if s.includeUsage {
		sum := s.chunk()
		sum.Usage, sum.Macaron = chatapi.UsageOf(u), s.head.macaron()
		if err := s.write(sum); err != nil {
			return err
		}
	}
	return s.w.End("", []byte("[DONE]"))
}

// Fail ends the stream with an error in the place of the end.
func (s *streamSink) Fail(e *errs.Error) error {
	b, err := json.Marshal(errorOf(e))
	if err != nil {
		return err
	}
	return s.w.End("", b)
}

func (s *streamSink) close() {
	s.Abort()
	s.w.Close()
}

func (s *streamSink) chunk(choices ...chunkChoice) chunk {
	if choices == nil {
		choices = []chunkChoice{} // the usage chunk has an empty list, not null
	}
	return chunk{ID: s.head.id(), Object: "chat.completion.chunk", Created: s.head.created, Model: s.head.model, Choices: choices}
}

func (s *streamSink) send(d delta, lp *chatapi.Logprobs) error {
	return s.write(s.chunk(chunkChoice{Delta: d, Logprobs: lp}))
}

func (s *streamSink) write(c chunk) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return s.w.Send("", b)
}
