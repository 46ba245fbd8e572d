package app

import (
	"context"
	"net/http"
	"time"

	"macaron/internal/backend"
	"macaron/internal/obs"
	"macaron/internal/record"
	"macaron/internal/turn"
)

// delivery is how long the last spans may take to be delivered.
const delivery = 3 * time.Second

// openTracer makes spans where the settings want them; elsewhere a.tracer stays nil, and
// nothing on the path of a request knows of traces.
func (a *App) openTracer(Options) (err error) {
	t := a.cfg.Traces
	if !t.On() {
		return nil
	}
	a.tracer, err = obs.NewTracer(context.Background(), obs.TraceOptions{
		Endpoint: t.Endpoint, Headers: t.Headers.Reveal(), Content: t.Content, Sample: t.Sample,
		Version: a.version, Instance: a.instance, Log: a.log,
	})
	if err != nil {
		return err
	}
	a.onClose(func() error {
		ctx, stop := context.WithTimeout(context.Background(), delivery)
		defer stop()
		return a.tracer.Close(ctx)
	})
	return nil
}

// seen puts spans around the model calls of a generator, where somebody wants them.
func (a *App) seen(g backend.Generator) backend.Generator {
	if a.tracer == nil {
		return g
	}
	return a.tracer.Hops(g)
}

// mark is what requests to engines carry for whoever traces; nil: nothing.
func (a *App) mark() func(context.Context, http.Header) {
	if a.tracer == nil {
		return nil
	}
	return a.tracer.Mark
}

// traced takes up the trace that a request belongs to.
func (a *App) traced(next http.Handler) http.Handler {
	if a.tracer == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(a.tracer.Accept(r.Context(), r.Header)))
	})
}

// turnTracer is what the turns' room needs of traces; nil: nobody traces.
func (a *App) turnTracer() turn.Tracer {
	if a.tracer == nil {
		return nil
	}
	return spans{a.tracer}
}

// spans tells telemetry of turns in its words.
type spans struct{ t *obs.Tracer }

// Turn implements turn.Tracer.
func (s spans) Turn(ctx context.Context, request, owner string) (context.Context, turn.Span) {
	ctx, span := s.t.Turn(ctx, request, owner)
	return ctx, turnSpan{span}
}

type turnSpan struct{ *obs.TurnSpan }

// Closed implements turn.Span.
func (s turnSpan) Closed(r turn.Report, status record.Status, cause string) {
	d := obs.Turned{
		Turn: r.Turn, Session: r.Session, Status: string(status), Cause: cause, Adapter: r.Adapter, Revision: string(r.Revision),
		Contract: string(r.Contract), Reason: r.Reason, RouteCause: r.Cause, Probability: r.Probabilities[r.Adapter],
	}
	for _, h := range r.Hops {
		d.Prompt, d.Cached, d.Output = d.Prompt+h.PromptTokens, d.Cached+h.CachedTokens, d.Output+h.OutputTokens
	}
	s.TurnSpan.Closed(d)
}
