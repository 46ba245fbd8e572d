package obs

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"macaron/internal/errs"
)

// TurnSpan is the span of one turn.
type TurnSpan struct {
	t    *Tracer
	span trace.Span
}

type requestKey struct{}

// Turn begins the span of a turn under that of ctx, or a trace of its own. The request's
// id comes to stand on the spans of its model calls too.
func (t *Tracer) Turn(ctx context.Context, request, owner string) (context.Context, *TurnSpan) {
	ctx, span := t.tracer.Start(ctx, "invoke_agent macaron", trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(opName.String("invoke_agent"), agentName.String("macaron"), provider.String("macaron"), requestID.String(request), tenant.String(owner)))
	return context.WithValue(ctx, requestKey{}, request), &TurnSpan{t, span}
}

// Trace is the id of the turn's trace.
func (s *TurnSpan) Trace() string { return s.span.SpanContext().TraceID().String() }

// Turned says how a turn was committed.
type Turned struct {
	Turn, Session     string
	Status, Cause     string // Cause: error code of a turn that was interrupted
	Adapter, Revision string
	Contract          string
	Reason            string  // of the routing decision
	RouteCause        string  // why it fell back
	Probability       float64 // of Adapter; 0: unknown
	Prompt, Cached    int     // tokens of all hops
	Output            int
}

// Closed tells how the turn was committed. Its summary will find the trace by the turn.
func (s *TurnSpan) Closed(d Turned) {
	s.span.SetAttributes(turnID.String(d.Turn), conversation.String(d.Session), turnStatus.String(d.Status), adapterName.String(d.Adapter),
		revision.String(d.Revision), contractKey.String(d.Contract), reason.String(d.Reason),
		inputTokens.Int(d.Prompt), cachedTokens.Int(d.Cached), outputTokens.Int(d.Output))
	if d.RouteCause != "" {
		s.span.SetAttributes(routeCause.String(d.RouteCause))
	}
	if d.Probability > 0 {
		s.span.SetAttributes(probability.Float64(d.Probability))
	}
	if d.Cause != "" {
		failed(s.span, d.Cause)
	}
	s.t.turns.add(d.Turn, s.span.SpanContext())
}

// End ends the span with the error of the request. Its text stays out: it may quote words.
func (s *TurnSpan) End(err error) {
	if err != nil {
		failed(s.span, string(errs.CodeOf(err)))
	}
	s.span.End()
}

func failed(span trace.Span, code string) {
	span.SetAttributes(errorType.String(code))
	span.SetStatus(codes.Error, code)
}

// known keeps attributes that have a value.
func known(list ...attribute.KeyValue) []attribute.KeyValue {
	var out []attribute.KeyValue
	for _, a := range list {
		if a.Value.AsString() != "" {
			out = append(out, a)
		}
	}
	return out
}

// remembered is how many turns wait for their summaries with their traces known.
const remembered = 4096

// recent remembers the spans of the latest turns.
type recent struct {
	mu    sync.Mutex
	spans map[string]trace.SpanContext
	order []string
}

func (r *recent) add(turn string, c trace.SpanContext) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spans == nil {
		r.spans = map[string]trace.SpanContext{}
	}
	if _, again := r.spans[turn]; !again {
		r.order = append(r.order, turn)
	}
	r.spans[turn] = c
	if len(r.order) > remembered {
		delete(r.spans, r.order[0])
		r.order = r.order[1:]
	}
}

func (r *recent) find(turn string) (trace.SpanContext, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.spans[turn]
	return c, ok
}
