package upstream

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/wire/sse"
)

// maxEvent bounds one event, and a whole answer of a server that does not stream.
const maxEvent = 4 << 20

// maxCalls bounds the tool calls of one answer.
const maxCalls = 128

// piece is one chunk of a stream, or a whole completion: what is read of either.
type piece struct {
	Choices []pieceChoice `json:"choices"`
	Usage   *pieceUsage   `json:"usage"`
}

type pieceChoice struct {
	Delta        *pieceDelta `json:"delta"`
	Message      *pieceDelta `json:"message"`
	FinishReason string      `json:"finish_reason"`
	Logprobs     *struct {
		Content []pieceLogprob `json:"content"`
	} `json:"logprobs"`
}

type pieceDelta struct {
	Content          json.RawMessage `json:"content"`
	Refusal          string          `json:"refusal"`
	Reasoning        string          `json:"reasoning"`
	ReasoningContent string          `json:"reasoning_content"`
	ToolCalls        []pieceCall     `json:"tool_calls"`
}

type pieceCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type pieceLogprob struct {
	Token   string         `json:"token"`
	Logprob float64        `json:"logprob"`
	Bytes   []int          `json:"bytes"`
	Top     []pieceLogprob `json:"top_logprobs"`
}

type pieceUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	Details          *struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// parser turns a response body into events. It emits Finish only for an answer
// that the server itself finished.
type parser struct {
	backend *Backend
	emit    func(chat.Event) bool
	begun   time.Time
	started bool
	first   time.Duration
	calls   int // tool calls seen so far
	lastID  string
	reason  chat.FinishReason
	usage   chat.Usage
	pieces  int // chunks with something in them: the output tokens, if no usage comes
}

func (p *parser) read(contentType string, in io.Reader) error {
	if !strings.HasPrefix(contentType, "text/event-stream") {
		return p.whole(in)
	}
	events := sse.NewReader(in, maxEvent)
	for {
		e, err := events.Next()
		switch {
		case err != nil && p.reason != "" && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
			return p.finish() // no [DONE], but the answer was complete
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return errs.New(errs.UpstreamFailed, "the engine broke off its answer", "send the request again")
		case errors.Is(err, sse.ErrTooLong):
			return errs.Wrap(errs.UpstreamFailed, err, "the engine sent an event that is too long", "")
		case err != nil:
			return err
		}
		data := bytes.TrimSpace(e.Data)
		if string(data) == "[DONE]" {
			return p.finish()
		}
		if err := p.piece(data); err != nil {
			return err
		}
	}
}

// whole reads a server that answers without streaming, or with an error in a 200.
func (p *parser) whole(in io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(in, maxEvent+1))
	if err != nil {
		return err
	}
	if len(text) > maxEvent {
		return errs.New(errs.UpstreamFailed, "the engine's answer is too long", "")
	}
	if err := p.piece(text); err != nil {
		return err
	}
	return p.finish()
}

func (p *parser) piece(data []byte) error {
	if e, bad := errorIn(data); bad {
		return p.backend.refused(e.status(), nil, data, "")
	}
	var c piece
	if err := json.Unmarshal(data, &c); err != nil {
		return errs.Wrap(errs.UpstreamFailed, err, "the engine sent something that is no answer", "see whether upstream.url is an OpenAI-compatible server")
	}
	if c.Usage != nil {
		p.usage.PromptTokens, p.usage.OutputTokens = c.Usage.PromptTokens, c.Usage.CompletionTokens
		if c.Usage.Details != nil {
			p.usage.CachedTokens = c.Usage.Details.CachedTokens
		}
	}
	if !p.started && (len(c.Choices) > 0 || c.Usage != nil) {
		p.started = true
		if !p.emit(chat.Event{Start: &chat.Start{PromptTokens: p.usage.PromptTokens, CachedTokens: p.usage.CachedTokens, Engine: p.backend.engine()}}) {
			return errStopped
		}
	}
	if len(c.Choices) == 0 {
		return nil
	}
	return p.choice(c.Choices[0])
}

func (p *parser) choice(c pieceChoice) error {
	d := c.Delta
	if d == nil {
		d = c.Message
	}
	if d != nil {
		if err := p.delta(*d, c); err != nil {
			return err
		}
	}
	switch c.FinishReason {
	case "":
	case "length", "tool_calls", "content_filter", "stop":
		p.reason = chat.FinishReason(c.FinishReason)
	case "function_call":
		p.reason = chat.FinishTools
	case "abort", "error", "cancelled":
		return errs.Newf(errs.UpstreamFailed, "the engine gave the answer up (%s)", c.FinishReason)
	default: // such as "eos": an end that has another name there
		p.reason = chat.FinishStop
	}
	return nil
}

func (p *parser) delta(d pieceDelta, c pieceChoice) error {
	text := textOf(d.Content) + d.Refusal
	events := []chat.Event{}
	if r := d.ReasoningContent + d.Reasoning; r != "" {
		events = append(events, chat.Event{Reasoning: r})
	}
	var tokens []chat.TokenLogprob
	if c.Logprobs != nil {
		tokens = logprobs(c.Logprobs.Content)
	}
	if text != "" || len(tokens) > 0 {
		events = append(events, chat.Event{Text: text, Tokens: tokens})
	}
	for _, call := range d.ToolCalls {
		if call.Index != nil && (*call.Index < 0 || *call.Index >= maxCalls) {
			return errs.Newf(errs.UpstreamFailed, "the engine numbered a tool call %d", *call.Index)
		}
		events = append(events, chat.Event{ToolCall: p.call(call)})
	}
	for _, e := range events {
		p.pieces++
		if p.first == 0 {
			p.first = time.Since(p.begun)
		}
		if !p.emit(e) {
			return errStopped
		}
	}
	return nil
}

// textOf reads content as a string, or as a list of text parts as some servers send it.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) == nil {
		for _, p := range parts {
			s += p.Text
		}
	}
	return s
}

// call gives a piece its place: the server's index, or, where it sends none, a new
// one for each new id.
func (p *parser) call(c pieceCall) *chat.ToolCallDelta {
	fresh := c.ID != "" && c.ID != p.lastID || p.calls == 0
	d := &chat.ToolCallDelta{ID: c.ID, Name: c.Function.Name, Arguments: argumentsOf(c.Function.Arguments)}
	switch {
	case c.Index != nil:
		d.Index = *c.Index
		fresh = d.Index >= p.calls
		p.calls = max(p.calls, d.Index+1)
	case fresh || c.Function.Name != "" && c.ID == "":
		fresh = true
		d.Index = p.calls
		p.calls++
	default:
		d.Index = p.calls - 1
	}
	if fresh && d.ID == "" {
		d.ID = newCallID()
	}
	if c.ID != "" {
		p.lastID = c.ID
	}
	return d
}

// argumentsOf keeps a string as it is; some servers send the object itself.
func argumentsOf(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func newCallID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return "call_" + hex.EncodeToString(b[:])
}

func logprobs(in []pieceLogprob) []chat.TokenLogprob {
	var out []chat.TokenLogprob
	for _, t := range in {
		b := []byte(t.Token)
		if len(t.Bytes) > 0 {
			b = b[:0]
			for _, x := range t.Bytes {
				b = append(b, byte(x))
			}
		}
		out = append(out, chat.TokenLogprob{ID: -1, Bytes: b, Logprob: t.Logprob, Top: logprobs(t.Top)})
	}
	return out
}

func (p *parser) finish() error {
	if p.reason == "" {
		return errs.New(errs.UpstreamFailed, "the engine ended its answer without saying why", "send the request again")
	}
	if p.calls > 0 {
		p.reason = chat.FinishTools
	}
	if p.usage.OutputTokens == 0 {
		p.usage.OutputTokens = p.pieces
	}
	p.usage.First, p.usage.Total = p.first, time.Since(p.begun)
	if !p.emit(chat.Event{Finish: &chat.Finish{Reason: p.reason, Usage: p.usage}}) {
		return errStopped
	}
	return nil
}
