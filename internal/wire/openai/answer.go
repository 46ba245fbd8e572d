package openai

import (
	"encoding/json"
	"net/http"
	"strings"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/turn"
	"macaron/internal/wire/chatapi"
)

// answerHead is what every object of one answer repeats.
type answerHead struct {
	model    string
	created  int64
	ignored  []string
	metadata json.RawMessage
	report   turn.Report
}

func (h answerHead) id() string { return "chatcmpl-" + strings.TrimPrefix(h.report.Turn, "trn_") }

func (h answerHead) macaron() *chatapi.Macaron {
	return chatapi.MacaronOf(h.report, h.ignored, h.metadata)
}

// completion is the whole answer.
type completion struct {
	ID      string             `json:"id"`
	Object  string             `json:"object"`
	Created int64              `json:"created"`
	Model   string             `json:"model"`
	Choices []completionChoice `json:"choices"`
	Usage   *chatapi.Usage     `json:"usage"`
	Macaron *chatapi.Macaron   `json:"macaron"`
}

type completionChoice struct {
	Index        int               `json:"index"`
	Message      answerMessage     `json:"message"`
	Logprobs     *chatapi.Logprobs `json:"logprobs"`
	FinishReason string            `json:"finish_reason"`
}

type answerMessage struct {
	Role      string             `json:"role"`
	Content   *string            `json:"content"`
	Refusal   *string            `json:"refusal"`
	Reasoning string             `json:"reasoning_content,omitempty"`
	ToolCalls []chatapi.ToolCall `json:"tool_calls,omitempty"`
}

// wholeSink collects the stream and writes it as one object at the end.
type wholeSink struct {
	w        http.ResponseWriter
	head     answerHead
	logprobs bool
	all      backend.Collected
}

// Chosen implements turn.Sink.
func (s *wholeSink) Chosen(r turn.Report) error { s.head.report = r; return nil }

// Event implements turn.Sink.
func (s *wholeSink) Event(e chat.Event) error { s.all.Add(e); return nil }

// Done implements turn.Sink.
func (s *wholeSink) Done(r turn.Report, why chat.FinishReason, u chat.Usage) error {
	s.head.report = r
	m := s.all.Message()
	out := answerMessage{Role: "assistant", Reasoning: m.Reasoning}
	if text := s.all.Text(); text != "" || len(m.ToolCalls) == 0 {
		out.Content = &text
	}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, chatapi.ToolCall{ID: c.ID, Type: "function", Function: chatapi.ToolFunction{Name: c.Name, Arguments: c.Arguments}})
	}
	choice := completionChoice{Message: out, FinishReason: string(why)}
	if s.logprobs {
		choice.Logprobs = chatapi.LogprobsOf(s.all.Logprobs)
	}
	chatapi.Headers(s.w.Header(), s.head.report)
	return chatapi.WriteWhole(s.w, completion{ID: s.head.id(), Object: "chat.completion", Created: s.head.created, Model: s.head.model,
		Choices: []completionChoice{choice}, Usage: chatapi.UsageOf(u), Macaron: s.head.macaron()})
}
