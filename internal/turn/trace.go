package turn

import (
	"context"

	"macaron/internal/record"
)

// Tracer shows turns to whoever traces them.
type Tracer interface {
	// Turn begins the span of a turn, under that of ctx if there is one.
	Turn(ctx context.Context, request, owner string) (context.Context, Span)
}

// Span is one turn in a trace.
type Span interface {
	// Trace is the trace's id, for the log.
	Trace() string
	// Closed tells how a turn that began was committed.
	Closed(r Report, status record.Status, cause string)
	// End comes once and last, with the error of the request.
	End(err error)
}

// span begins the span of a turn; without a Tracer it is nil.
func (r *Runner) span(ctx context.Context, q *Request) (context.Context, Span) {
	if r.Tracer == nil {
		return ctx, nil
	}
	return r.Tracer.Turn(ctx, q.ID, q.Owner)
}
