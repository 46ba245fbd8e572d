package upstream

import (
	"bytes"
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

// parser turns a response body into events. It emits Finish only for an answer
// that the server itself finished.
type parser struct {
	backend *Backend
	emit    func(chat.Event) bool
	more    func() bool // whether the next event has come already; nil: no stream
	begun   time.Time
	started bool
	first   time.Duration
	calls   int // tool calls seen so far
	lastID  string
	reason  chat.FinishReason
	stop    string // the stop string that ended the answer, from servers that tell it
	usage   chat.Usage
	served  *served // nil: no ids are wanted
	silent  bool    // log probabilities are for served alone
	pieces  int     // chunks with something in them: the output tokens, if no usage comes
}

func (p *parser) read(contentType string, in io.Reader) error {
	if !strings.HasPrefix(contentType, "text/event-stream") {
		return p.whole(in)
	}
	events := sse.NewReader(in, maxEvent)
	p.more = events.More
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
	c, ok := quick(data)
	if !ok {
		if e, bad := errorIn(data); bad {
			return p.backend.refused(e.status(), nil, data, "")
		}
		c = piece{}
		if err := json.Unmarshal(data, &c); err != nil {
			return errs.Wrap(errs.UpstreamFailed, err, "the engine sent something that is no answer", "see whether upstream.url is an OpenAI-compatible server")
		}
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
	p.served.prompted(c.Prompt)
	if len(c.Choices) == 0 {
		return nil
	}
	p.served.add(c.Choices[0])
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
	if s, ok := c.StopReason.(string); ok {
		p.stop = s
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
	if r := d.ReasoningContent + d.Reasoning; r != "" && !p.tell(chat.Event{Reasoning: r}) {
		return errStopped
	}
	var tokens []chat.TokenLogprob
	if c.Logprobs != nil && !p.silent {
		tokens = logprobs(c.Logprobs.Content)
	}
	if (text != "" || len(tokens) > 0) && !p.tell(chat.Event{Text: text, Tokens: tokens}) {
		return errStopped
	}
	for _, call := range d.ToolCalls {
		if call.Index != nil && (*call.Index < 0 || *call.Index >= maxCalls) {
			return errs.Newf(errs.UpstreamFailed, "the engine numbered a tool call %d", *call.Index)
		}
		if !p.tell(chat.Event{ToolCall: p.call(call)}) {
			return errStopped
		}
	}
	return nil
}

// tell emits a piece of the answer.
func (p *parser) tell(e chat.Event) bool {
	p.pieces++
	if p.first == 0 {
		p.first = time.Since(p.begun)
	}
	e.More = p.more != nil && p.more()
	return p.emit(e)
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
	end := &chat.Finish{Reason: p.reason, Usage: p.usage, Stop: p.stop}
	p.served.tell(end)
	if !p.emit(chat.Event{Finish: end}) {
		return errStopped
	}
	return nil
}
