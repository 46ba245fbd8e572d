package openai

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/turn"
	"macaron/internal/wire/chatapi"
)

// departure is how long a client may take to read a whole answer.
const departure = 60 * time.Second

// answerHead is what every object of one answer repeats.
type answerHead struct {
	model    string
	created  int64
	ignored  []string
	metadata json.RawMessage
	report   turn.Report
}

// macaron is the object in every answer and in the last chunks of a stream.
type macaron struct {
	turn.Report
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

func (h answerHead) id() string { return "chatcmpl-" + strings.TrimPrefix(h.report.Turn, "trn_") }

func (h answerHead) macaron() *macaron {
	m := &macaron{Report: h.report, Metadata: h.metadata}
	m.Ignored = append(slices.Clone(h.ignored), h.report.Ignored...)
	return m
}

// headers tells the decision before the body does.
func (h answerHead) headers(to http.Header) {
	r := h.report
	to.Set("X-Macaron-Adapter", r.Adapter)
	to.Set("X-Macaron-Revision", string(r.Revision))
	to.Set("X-Macaron-Turn", r.Turn)
	to.Set("X-Macaron-Session", r.Session)
	to.Set("X-Macaron-Reason", r.Reason)
	if p, ok := r.Probabilities[r.Adapter]; ok {
		to.Set("X-Macaron-Probability", strconv.FormatFloat(p, 'f', 4, 64))
	}
}

// completion is the whole answer.
type completion struct {
	ID      string             `json:"id"`
	Object  string             `json:"object"`
	Created int64              `json:"created"`
	Model   string             `json:"model"`
	Choices []completionChoice `json:"choices"`
	Usage   *chatapi.Usage     `json:"usage"`
	Macaron *macaron           `json:"macaron"`
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
	s.head.headers(s.w.Header())
	// A client that stops reading must not hold the turn's place.
	control := http.NewResponseController(s.w)
	if err := control.SetWriteDeadline(time.Now().Add(departure)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return writeJSON(s.w, completion{ID: s.head.id(), Object: "chat.completion", Created: s.head.created, Model: s.head.model,
		Choices: []completionChoice{choice}, Usage: chatapi.UsageOf(u), Macaron: s.head.macaron()})
}

func writeJSON(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	return json.NewEncoder(w).Encode(v)
}
