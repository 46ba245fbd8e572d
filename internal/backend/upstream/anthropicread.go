package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/wire/sse"
)

// messageEvent is one event of a stream of the Messages API, or a whole answer.
type messageEvent struct {
	Type    string        `json:"type"`
	Index   int           `json:"index"`
	Message *messageEvent `json:"message"`
	Block   *answerBlock  `json:"content_block"`
	Delta   struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		Thinking   string `json:"thinking"`
		Partial    string `json:"partial_json"`
		StopReason string `json:"stop_reason"`
		Stop       string `json:"stop_sequence"`
	} `json:"delta"`
	Usage *struct {
		Input   *int `json:"input_tokens"`
		Written *int `json:"cache_creation_input_tokens"`
		Read    *int `json:"cache_read_input_tokens"`
		Output  int  `json:"output_tokens"`
	} `json:"usage"`
	Content    []answerBlock `json:"content"`
	StopReason string        `json:"stop_reason"`
	Stop       string        `json:"stop_sequence"`
}

type answerBlock struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
}

// blocks is where a stream stands: which block is which call, and what was counted.
type blocks struct {
	*parser
	calls                map[int]int // block -> call
	given                map[int]bool
	input, written, read int
}

// readMessages is the parser of a Messages API: prompt tokens are those that were read,
// those written to the cache and those read from it.
func readMessages(p *parser, contentType string, in io.Reader) error {
	b := &blocks{parser: p, calls: map[int]int{}, given: map[int]bool{}}
	if !strings.HasPrefix(contentType, "text/event-stream") {
		return b.whole(in)
	}
	events := sse.NewReader(in, maxEvent)
	p.more = events.More
	for {
		e, err := events.Next()
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return errs.New(errs.UpstreamFailed, "the engine broke off its answer", "send the request again")
		case errors.Is(err, sse.ErrTooLong):
			return errs.Wrap(errs.UpstreamFailed, err, "the engine sent an event that is too long", "")
		case err != nil:
			return err
		}
		m, err := b.event(bytes.TrimSpace(e.Data))
		if err != nil {
			return err
		}
		if m.Type == "message_stop" {
			return p.finish()
		}
		if err := b.apply(m); err != nil {
			return err
		}
	}
}

func (b *blocks) event(data []byte) (m messageEvent, err error) {
	if e, bad := errorIn(data); bad {
		return m, b.backend.refused(e.status(), nil, data, "")
	}
	err = json.Unmarshal(data, &m)
	return m, errs.Wrap(errs.UpstreamFailed, err, "the engine sent something that is no answer", "see whether the engine's url is a Messages API")
}

func (b *blocks) apply(m messageEvent) error {
	switch m.Type {
	case "message_start":
		if m.Message != nil {
			b.count(*m.Message)
		}
		return b.start()
	case "content_block_start":
		if m.Block != nil {
			return b.open(m.Index, *m.Block)
		}
	case "content_block_delta":
		return b.delta(m)
	case "content_block_stop":
		if call, ok := b.calls[m.Index]; ok && !b.given[m.Index] {
			return b.say(chat.Event{ToolCall: &chat.ToolCallDelta{Index: call, Arguments: "{}"}})
		}
	case "message_delta":
		b.count(m)
		b.end(m.Delta.StopReason, m.Delta.Stop)
	}
	return nil // a ping, or an event that came later than this was written
}

func (b *blocks) say(e chat.Event) error {
	if !b.tell(e) {
		return errStopped
	}
	return nil
}

// count takes what is told; later numbers stand for the whole.
func (b *blocks) count(m messageEvent) {
	u := m.Usage
	if u == nil {
		return
	}
	for at, n := range map[*int]*int{&b.input: u.Input, &b.written: u.Written, &b.read: u.Read} {
		if n != nil {
			*at = max(*n, 0)
		}
	}
	b.usage.PromptTokens, b.usage.CachedTokens, b.usage.OutputTokens = b.input+b.written+b.read, b.read, u.Output
}

func (b *blocks) start() error {
	if b.started {
		return nil
	}
	b.started = true
	if !b.emit(chat.Event{Start: &chat.Start{PromptTokens: b.usage.PromptTokens, CachedTokens: b.usage.CachedTokens, Engine: b.backend.engine()}}) {
		return errStopped
	}
	return nil
}

func (b *blocks) open(index int, k answerBlock) error {
	switch {
	case k.Type == "tool_use" && b.parser.calls >= maxCalls:
		return errs.Newf(errs.UpstreamFailed, "the engine made more than %d tool calls", maxCalls)
	case k.Type == "tool_use":
		call := b.parser.calls
		b.calls[index] = call
		b.parser.calls++
		return b.say(chat.Event{ToolCall: &chat.ToolCallDelta{Index: call, ID: k.ID, Name: k.Name}})
	case k.Text != "":
		return b.say(chat.Event{Text: k.Text})
	case k.Thinking != "":
		return b.say(chat.Event{Reasoning: k.Thinking})
	}
	return nil
}

func (b *blocks) delta(m messageEvent) error {
	switch d := m.Delta; {
	case d.Text != "":
		return b.say(chat.Event{Text: d.Text})
	case d.Thinking != "":
		return b.say(chat.Event{Reasoning: d.Thinking})
	case d.Partial != "":
		call, ok := b.calls[m.Index]
		if !ok {
			return errs.New(errs.UpstreamFailed, "the engine sent arguments of a call that it has not begun", "send the request again")
		}
		b.given[m.Index] = true
		return b.say(chat.Event{ToolCall: &chat.ToolCallDelta{Index: call, Arguments: d.Partial}})
	}
	return nil
}

func (b *blocks) end(reason, stop string) {
	b.stop = stop
	switch reason {
	case "":
	case "max_tokens", "model_context_window_exceeded":
		b.reason = chat.FinishLength
	case "tool_use":
		b.reason = chat.FinishTools
	case "refusal":
		b.reason = chat.FinishReason("content_filter")
	default:
		b.reason = chat.FinishStop
	}
}

// whole reads an answer that is no stream.
func (b *blocks) whole(in io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(in, maxEvent+1))
	if err != nil {
		return err
	}
	if len(text) > maxEvent {
		return errs.New(errs.UpstreamFailed, "the engine's answer is too long", "")
	}
	m, err := b.event(text)
	if err != nil {
		return err
	}
	b.count(m)
	if err := b.start(); err != nil {
		return err
	}
	for i, k := range m.Content {
		if err := b.open(i, k); err != nil {
			return err
		}
		if call, ok := b.calls[i]; ok {
			if err := b.say(chat.Event{ToolCall: &chat.ToolCallDelta{Index: call, Arguments: string(k.Input)}}); err != nil {
				return err
			}
		}
	}
	b.end(m.StopReason, m.Stop)
	return b.finish()
}
