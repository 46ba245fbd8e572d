package obs

import (
	"cmp"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"macaron/internal/chat"
	"macaron/internal/record"
	"macaron/internal/transcript"
)

// RunOptions say what stands in the spans of a run.
type RunOptions struct {
	Content bool // what was said to and by the model, and what tools were given and showed
	Version string
}

// runTrace collects the spans of a run. Each lies within its parent's time.
type runTrace struct {
	run     *transcript.Run
	content bool
	spans   []*tracepb.Span
}

// spansOf makes the spans of a run from its fold: the run, the model calls, the tool calls.
func spansOf(r *transcript.Run, content bool) []*tracepb.Span {
	t := &runTrace{run: r, content: content}
	root := t.root()
	for _, turn := range r.Turns {
		t.chat(root, turn)
		for i := range turn.Acts {
			t.act(root, &turn.Acts[i])
		}
	}
	for _, failed := range r.Failed {
		t.chat(root, failed)
	}
	return t.spans
}

func (t *runTrace) root() *tracepb.Span {
	r := t.run
	o, u := r.Opened, r.Totals.Usage
	list := append(known(conversation.String(r.Head.Session), model.String(modelOf(o.Pins.Adapter.Name, o.Pins.Engine)), adapterName.String(o.Pins.Adapter.Name),
		revision.String(string(r.Head.Revision)), contractKey.String(string(r.Head.Contract))),
		opName.String("invoke_agent"), agentName.String("macaron"), provider.String("macaron"), tenant.String(r.Head.Owner), runID.String(r.Head.Run),
		runStatus.String(string(r.Status)), runMode.String(o.Mode), runPurpose.String(string(r.Head.Purpose)),
		inputTokens.Int(u.PromptTokens), cachedTokens.Int(u.CachedTokens), outputTokens.Int(u.OutputTokens))
	if t.content {
		list = append(list, inputText.String(messagesText(t.first())))
		if r.Closed != nil && r.Closed.Answer != "" {
			list = append(list, outputText.String(messagesText([]chat.Message{chat.Text(chat.Assistant, r.Closed.Answer)})))
		}
	}
	code := ""
	if final := r.Status != record.RunRunning && !r.Status.Resumable(); final && r.Status != record.RunDone {
		code = string(r.Status)
	}
	s := t.span(nil, "invoke_agent macaron", "run", r.Head.Run, r.Head.Time, r.Until(), code, list)
	s.Kind = tracepb.Span_SPAN_KIND_INTERNAL
	return s
}

// first is what the model was shown before it said anything.
func (t *runTrace) first() []chat.Message {
	list := append([]chat.Message(nil), t.run.Opened.Messages...)
	for _, s := range t.run.Said {
		list = append(list, chat.Text(chat.User, s))
	}
	return list
}

// chat makes the span of a model call. Its record was made at its end.
func (t *runTrace) chat(root *tracepb.Span, turn *transcript.Turn) {
	h := turn.Hop
	name := modelOf(h.Adapter.Name, h.Engine)
	list := append(known(provider.String(h.Engine.Name), version.String(h.Engine.Version), model.String(name), adapterName.String(h.Adapter.Name), revision.String(string(h.Adapter.Hash))),
		opName.String("chat"), conversation.String(t.run.Head.Session), runID.String(t.run.Head.Run), hopKind.String(string(h.Hop)),
		inputTokens.Int(h.Usage.PromptTokens), cachedTokens.Int(h.Usage.CachedTokens), outputTokens.Int(h.Usage.OutputTokens))
	if h.Finish != "" {
		list = append(list, finish.StringSlice([]string{string(h.Finish)}))
	}
	if h.Usage.First > 0 {
		list = append(list, firstChunk.Float64(h.Usage.First.Seconds()))
	}
	if t.content && h.Message != nil {
		list = append(list, outputText.String(messagesText([]chat.Message{*h.Message})))
	}
	s := t.span(root, strings.TrimSpace("chat "+name), "hop", h.ID, turn.Head.Time.Add(-h.Usage.Total), turn.Head.Time, h.Error, list)
	s.Kind = tracepb.Span_SPAN_KIND_CLIENT
}

// act makes the spans of what a model's answer led to: a tool, or code and the tools that it called.
func (t *runTrace) act(root *tracepb.Span, a *transcript.Act) {
	if a.Call != nil {
		t.call(root, a.Call)
	}
	if a.Cell != nil {
		cell := t.cell(root, a.Cell)
		for _, c := range a.Cell.Calls {
			t.call(cell, c)
		}
	}
}

func (t *runTrace) cell(root *tracepb.Span, c *transcript.Cell) *tracepb.Span {
	list := []attribute.KeyValue{opName.String("execute_tool"), toolName.String(transcript.Python), toolCall.String(c.ID)}
	start, end, code := c.Time, t.run.Until(), ""
	if r := c.Ran; r != nil {
		end = c.At
		if began := end.Add(-r.Wall); began.Before(start) {
			start = began
		}
		if r.Status != "ok" {
			code = r.Status
		}
		if t.content {
			list = append(list, toolInput.String(encoded(map[string]string{"code": clean(r.Code)})), toolOutput.String(clean(r.Shown)))
		}
	}
	return t.span(root, "execute_tool "+transcript.Python, "cell", c.ID, start, end, code, list)
}

// call makes the span of a tool call and of those that its tool made. A call that only waits for
// a person was not made.
func (t *runTrace) call(parent *tracepb.Span, c *transcript.Call) {
	if c.Called == nil && c.Returned == nil {
		return
	}
	list := []attribute.KeyValue{opName.String("execute_tool"), toolCall.String(c.ID)}
	name, end, code := "", t.run.Until(), ""
	if b := c.Called; b != nil {
		name, list = b.Name, append(list, toolEffect.String(b.Effect))
		if t.content {
			list = append(list, toolInput.String(clean(string(c.Visible()))))
		}
	}
	if c.InDoubt() {
		code = string(record.RunInDoubt)
	}
	if b := c.Returned; b != nil {
		name, end = b.Name, c.Time.Add(b.Wall)
		if b.Error != nil {
			code = cmp.Or(code, b.Error.Code)
		}
		if t.content && b.Shown != "" {
			list = append(list, toolOutput.String(clean(b.Shown)))
		}
	}
	s := t.span(parent, "execute_tool "+name, "call", c.ID, c.Time, end, code, append(list, toolName.String(name)))
	for _, inner := range c.Calls {
		t.call(s, inner)
	}
}

// span adds a span; code is that of its failure, "" for none.
func (t *runTrace) span(parent *tracepb.Span, name, what, id string, start, end time.Time, code string, list []attribute.KeyValue) *tracepb.Span {
	s := &tracepb.Span{Name: valid(name), Kind: tracepb.Span_SPAN_KIND_INTERNAL, TraceId: derived(16, "trace", t.run.Head.Run), SpanId: derived(8, what, t.run.Head.Run, id),
		StartTimeUnixNano: nanos(start), EndTimeUnixNano: nanos(end)}
	if parent != nil {
		s.ParentSpanId = parent.SpanId
		s.StartTimeUnixNano = min(max(s.StartTimeUnixNano, parent.StartTimeUnixNano), parent.EndTimeUnixNano)
		s.EndTimeUnixNano = min(s.EndTimeUnixNano, parent.EndTimeUnixNano)
	}
	s.EndTimeUnixNano = max(s.EndTimeUnixNano, s.StartTimeUnixNano)
	if code != "" {
		list = append(list, errorType.String(code))
		s.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: valid(code)}
	}
	s.Attributes = written(list)
	t.spans = append(t.spans, s)
	return s
}

// modelOf names who spoke: the adapter, or the base without one.
func modelOf(adapter string, e chat.Engine) string { return cmp.Or(adapter, e.Base, e.Name) }
