package anthropic

import (
	"encoding/json"
	"net/http"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/turn"
	"macaron/internal/wire/chatapi"
)

// message is a whole answer; at the head of a stream it is still empty.
type message struct {
	ID           string           `json:"id"`
	Type         string           `json:"type"`
	Role         string           `json:"role"`
	Model        string           `json:"model"`
	Content      []any            `json:"content"`
	StopReason   *string          `json:"stop_reason"`
	StopSequence *string          `json:"stop_sequence"`
	Usage        usage            `json:"usage"`
	Macaron      *chatapi.Macaron `json:"macaron,omitempty"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// thinkingBlock has an empty signature: it is read back without one.
type thinkingBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

type toolBlock struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// usage counts the input without the part that was read from a cache.
type usage struct {
	Input         int `json:"input_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
	Output        int `json:"output_tokens"`
}

func usageOf(u chat.Usage) usage {
	return usage{Input: u.PromptTokens - u.CachedTokens, CacheRead: u.CachedTokens, Output: u.OutputTokens}
}

// head is what the answer to one request repeats.
type head struct {
	*request
	report turn.Report
}

func (h head) message() message {
	return message{ID: "msg_" + strings.TrimPrefix(h.report.Turn, "trn_"), Type: "message", Role: "assistant", Model: h.model, Content: []any{}}
}

func (h head) macaron() *chatapi.Macaron {
	return chatapi.MacaronOf(h.told(h.report), h.ignored, nil)
}

// stopReason says why the answer ended, and at which stop sequence.
func (h head) stopReason(why chat.FinishReason) (reason string, sequence *string) {
	switch why {
	case chat.FinishLength:
		return "max_tokens", nil
	case chat.FinishTools:
		return "tool_use", nil
	case chat.FinishFilter:
		return "refusal", nil
	}
	if s := h.report.Stop; s != "" {
		return "stop_sequence", &s
	}
	return "end_turn", nil
}

// made is a block of a whole answer.
type made struct {
	block
	text strings.Builder
}

// wholeSink collects the stream and writes it as one message at the end.
type wholeSink struct {
	w       http.ResponseWriter
	head    head
	compose composer
	made    []*made
}

func newWhole(w http.ResponseWriter, q *request) *wholeSink {
	s := &wholeSink{w: w, head: head{request: q}}
	s.compose = composer{to: s, hidden: q.hidden}
	return s
}

// Chosen implements turn.Sink.
func (s *wholeSink) Chosen(r turn.Report) error { s.head.report = r; return nil }

// Event implements turn.Sink.
func (s *wholeSink) Event(e chat.Event) error { return s.compose.add(e) }

func (s *wholeSink) open(_ int, b block) error {
	s.made = append(s.made, &made{block: b})
	return nil
}

func (s *wholeSink) write(index int, _ block, piece string) error {
	s.made[index].text.WriteString(piece)
	return nil
}

func (s *wholeSink) shut(int) error { return nil }

// Done implements turn.Sink.
func (s *wholeSink) Done(r turn.Report, why chat.FinishReason, u chat.Usage) error {
	if err := s.compose.end(); err != nil {
		return err
	}
	s.head.report = r
	m := s.head.message()
	for _, b := range s.made {
		m.Content = append(m.Content, b.content())
	}
	reason, sequence := s.head.stopReason(why)
	m.StopReason, m.StopSequence, m.Usage, m.Macaron = &reason, sequence, usageOf(u), s.head.macaron()
	chatapi.Headers(s.w.Header(), r)
	return chatapi.WriteWhole(s.w, m)
}

func (m *made) content() any {
	switch text := m.text.String(); m.kind {
	case "text":
		return textBlock{"text", text}
	case "thinking":
		return thinkingBlock{Type: "thinking", Thinking: text}
	default:
		return toolBlock{"tool_use", m.id, m.name, input(text)}
	}
}

// input is the object that the API has for arguments. What an engine wrote that is no
// JSON object is shown in one.
func input(arguments string) json.RawMessage {
	var object map[string]json.RawMessage
	if strings.TrimSpace(arguments) == "" {
		return json.RawMessage("{}")
	}
	if err := json.Unmarshal([]byte(arguments), &object); err == nil && object != nil {
		return json.RawMessage(arguments)
	}
	return json.RawMessage(`{"unparsed":` + chat.Quote(arguments) + `}`)
}
