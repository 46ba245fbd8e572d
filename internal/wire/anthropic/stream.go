package anthropic

import (
	"encoding/json"
	"net/http"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/turn"
	"macaron/internal/wire/chatapi"
	"macaron/internal/wire/sse"
)

// pulse keeps a quiet stream alive.
var pulse = []byte("event: ping\ndata: {\"type\":\"ping\"}\n\n")

type messageStart struct {
	Type    string  `json:"type"`
	Message message `json:"message"`
}

type blockStart struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Block any    `json:"content_block"`
}

type blockDelta struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Delta any    `json:"delta"`
}

type blockStop struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
}

type messageDelta struct {
	Type    string           `json:"type"`
	Delta   ending           `json:"delta"`
	Usage   usage            `json:"usage"`
	Macaron *chatapi.Macaron `json:"macaron"`
}

type ending struct {
	StopReason   string  `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
}

type thinkingDelta struct {
	Type     string `json:"type"`
	Thinking string `json:"thinking"`
}

type inputDelta struct {
	Type        string `json:"type"`
	PartialJSON string `json:"partial_json"`
}

// streamSink writes each event as it comes.
type streamSink struct {
	chatapi.Opening
	w       *sse.Writer
	header  http.Header
	head    head
	compose composer
	read    chat.Usage // tokens known at the head of the stream
}

func newStream(w http.ResponseWriter, q *request, o sse.Options) *streamSink {
	o.Pulse = pulse
	s := &streamSink{w: sse.NewWriter(w, o), header: w.Header(), head: head{request: q}}
	s.compose = composer{to: s, hidden: q.hidden}
	s.Begin = s.begin
	return s
}

// Chosen implements turn.Sink: the headers are set, and nothing is sent yet.
func (s *streamSink) Chosen(r turn.Report) error {
	s.Opening.Chosen(func() {
		s.head.report = r
		for _, h := range r.Hops {
			s.read = s.read.Add(chat.Usage{PromptTokens: h.PromptTokens, CachedTokens: h.CachedTokens, OutputTokens: h.OutputTokens})
		}
		chatapi.Headers(s.header, r)
	})
	return nil
}

// begin sends the status line, the empty message and a ping.
func (s *streamSink) begin() error {
	m := s.head.message()
	m.Usage = usageOf(s.read)
	if err := s.send("message_start", messageStart{"message_start", m}); err != nil {
		return err
	}
	return s.send("ping", map[string]string{"type": "ping"})
}

// Event implements turn.Sink.
func (s *streamSink) Event(e chat.Event) error {
	if e.Start != nil {
		s.Set(func() {
			s.read = s.read.Add(chat.Usage{PromptTokens: e.Start.PromptTokens, CachedTokens: e.Start.CachedTokens})
		})
	}
	return s.w.Together(e.More, func() error { return s.Send(func() error { return s.compose.add(e) }) })
}

func (s *streamSink) open(index int, b block) error {
	var content any
	switch b.kind {
	case "text":
		content = textBlock{Type: "text"}
	case "thinking":
		content = thinkingBlock{Type: "thinking"}
	default:
		content = toolBlock{"tool_use", b.id, b.name, json.RawMessage("{}")}
	}
	return s.send("content_block_start", blockStart{"content_block_start", index, content})
}

func (s *streamSink) write(index int, b block, piece string) error {
	var delta any
	switch b.kind {
	case "text":
		delta = textBlock{"text_delta", piece}
	case "thinking":
		delta = thinkingDelta{"thinking_delta", piece}
	default:
		delta = inputDelta{"input_json_delta", piece}
	}
	return s.send("content_block_delta", blockDelta{"content_block_delta", index, delta})
}

func (s *streamSink) shut(index int) error {
	return s.send("content_block_stop", blockStop{"content_block_stop", index})
}

// Done implements turn.Sink: the reason and the usage of the whole request, the end.
func (s *streamSink) Done(r turn.Report, why chat.FinishReason, u chat.Usage) error {
	return s.w.Together(false, func() error { return s.Send(func() error { return s.done(r, why, u) }) })
}

func (s *streamSink) done(r turn.Report, why chat.FinishReason, u chat.Usage) error {
	if err := s.compose.end(); err != nil {
		return err
	}
	s.head.report = r
	reason, sequence := s.head.stopReason(why)
	last := messageDelta{"message_delta", ending{reason, sequence}, usageOf(u), s.head.macaron()}
	if err := s.send("message_delta", last); err != nil {
		return err
	}
	return s.w.End("message_stop", []byte(`{"type":"message_stop"}`))
}

// Fail ends the stream with an error in the place of the end.
func (s *streamSink) Fail(e *errs.Error) error {
	b, err := json.Marshal(errorOf(e, s.header))
	if err != nil {
		return err
	}
	return s.w.End("error", b)
}

func (s *streamSink) close() {
	s.Abort()
	s.w.Close()
}

func (s *streamSink) send(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.w.Send(name, b)
}
