package obs

import (
	"context"
	"iter"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
)

// Hops puts a span around each model call of a generator.
func (t *Tracer) Hops(g backend.Generator) backend.Generator { return &hops{g, t} }

type hops struct {
	backend.Generator
	t *Tracer
}

// Count implements backend.Counter, if the generator does.
func (h *hops) Count(ctx context.Context, r backend.Request) (int, error) {
	return backend.Count(ctx, h.Generator, r)
}

// CapabilitiesOf implements backend.Divided, if the generator does.
func (h *hops) CapabilitiesOf(adapter string) backend.Capabilities {
	return backend.CapabilitiesOf(h.Generator, adapter)
}

// Encode implements backend.Tokenizer, if the generator does.
func (h *hops) Encode(r backend.Request) ([]int32, error) { return backend.Encode(h.Generator, r) }

// Continue implements backend.Tokenizer, if the generator does.
func (h *hops) Continue(r backend.Request, at int, prompt, served []int32) ([]int32, bool, error) {
	if t, can := h.Generator.(backend.Tokenizer); can {
		return t.Continue(r, at, prompt, served)
	}
	return nil, false, nil
}

// Generate implements backend.Generator.
func (h *hops) Generate(ctx context.Context, r backend.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		ctx, hop := h.t.hop(ctx, r)
		defer hop.end()
		for e, err := range h.Generator.Generate(ctx, r) {
			hop.see(e, err)
			if !yield(e, err) {
				return
			}
		}
	}
}

// hop is the span of one model call.
type hop struct {
	span  trace.Span
	all   *backend.Collected // nil: no content
	ended bool               // by a finish or an error
}

func (t *Tracer) hop(ctx context.Context, r backend.Request) (context.Context, *hop) {
	if c, ok := t.turns.find(r.Hop.Turn); ok && !trace.SpanContextFromContext(ctx).IsValid() {
		ctx = trace.ContextWithSpanContext(ctx, c)
	}
	ctx, span := t.tracer.Start(ctx, "chat "+r.Revision.Name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(asked(ctx, r)...))
	h := &hop{span: span}
	if t.content && span.IsRecording() {
		h.all = &backend.Collected{}
		span.SetAttributes(inputText.String(messagesText(r.Messages)))
	}
	return ctx, h
}

// asked says what a model call is asked for.
func asked(ctx context.Context, r backend.Request) []attribute.KeyValue {
	request, _ := ctx.Value(requestKey{}).(string)
	list := append(known(requestID.String(request), turnID.String(r.Hop.Turn), conversation.String(r.Session), hopKind.String(r.Hop.Kind)),
		opName.String("chat"), model.String(r.Revision.Name), adapterName.String(r.Revision.Name), revision.String(string(r.Revision.Hash)))
	if r.MaxTokens > 0 {
		list = append(list, maxTokens.Int(r.MaxTokens))
	}
	if v := r.Sampling.Temperature; v != nil {
		list = append(list, temperature.Float64(*v))
	}
	if v := r.Sampling.TopP; v != nil {
		list = append(list, topP.Float64(*v))
	}
	return list
}

// see takes what the generator yields.
func (h *hop) see(e chat.Event, err error) {
	switch {
	case err != nil:
		h.ended = true
		failed(h.span, string(errs.CodeOf(err)))
		return
	case e.Start != nil:
		h.span.SetAttributes(known(provider.String(e.Start.Engine.Name), version.String(e.Start.Engine.Version))...)
	case e.Choice != nil:
		h.span.SetAttributes(label.String(e.Choice.Label), probability.Float64(e.Choice.Probabilities[e.Choice.Label]))
	case e.Finish != nil:
		h.finish(e.Finish)
	}
	if h.all != nil {
		h.all.Add(e)
	}
}

func (h *hop) finish(f *chat.Finish) {
	h.ended = true
	u := f.Usage
	h.span.SetAttributes(finish.StringSlice([]string{string(f.Reason)}), inputTokens.Int(u.PromptTokens), cachedTokens.Int(u.CachedTokens), outputTokens.Int(u.OutputTokens))
	if u.First > 0 {
		h.span.SetAttributes(firstChunk.Float64(u.First.Seconds()))
	}
}

// end ends the span, also of a call that its consumer left.
func (h *hop) end() {
	if !h.ended {
		failed(h.span, string(errs.Canceled))
	}
	if h.all != nil {
		h.span.SetAttributes(outputText.String(answerText(h.all)))
	}
	h.span.End()
}
