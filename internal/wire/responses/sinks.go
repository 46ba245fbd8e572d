package responses

import (
	"context"
	"net/http"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/turn"
	"macaron/internal/wire/chatapi"
	"macaron/internal/wire/sse"
)

// wholeSink collects the events and writes one object at the end.
type wholeSink struct {
	head
	w   http.ResponseWriter
	all backend.Collected
}

// Chosen implements turn.Sink.
func (s *wholeSink) Chosen(r turn.Report) error { s.report = r; return nil }

// Event implements turn.Sink.
func (s *wholeSink) Event(e chat.Event) error { s.all.Add(e); return nil }

// Done implements turn.Sink.
func (s *wholeSink) Done(r turn.Report, why chat.FinishReason, u chat.Usage) error {
	s.report = r
	chatapi.Headers(s.w.Header(), r)
	return chatapi.WriteWhole(s.w, s.ended(s.all.Message(), why, u))
}

// eventSink gives the events of a turn to an encoder.
type eventSink struct {
	encoder
	all backend.Collected
}

func (s *eventSink) event(e chat.Event) error {
	s.all.Add(e)
	return s.add(e)
}

func (s *eventSink) done(r turn.Report, why chat.FinishReason, u chat.Usage) error {
	s.report = r
	return s.end(s.ended(s.all.Message(), why, u))
}

// broke tells of a response that did not come to its end.
func (s *eventSink) broke(err error) error {
	m := s.all.Message()
	status := failed
	if errs.CodeOf(err) == errs.Canceled {
		status = cancelled
	}
	return s.end(s.broken(status, failureOf(err), &m))
}

// streamSink is eventSink on the client's own connection: the status line waits for the
// first event, so that until then an error has a status of its own.
type streamSink struct {
	chatapi.Opening
	eventSink
	w      *sse.Writer
	header http.Header
}

// Chosen implements turn.Sink.
func (s *streamSink) Chosen(r turn.Report) error {
	s.Opening.Chosen(func() {
		s.report = r
		chatapi.Headers(s.header, r)
	})
	return nil
}

// Event implements turn.Sink.
func (s *streamSink) Event(e chat.Event) error {
	return s.w.Together(e.More, func() error { return s.Send(func() error { return s.event(e) }) })
}

// Done implements turn.Sink.
func (s *streamSink) Done(r turn.Report, why chat.FinishReason, u chat.Usage) error {
	return s.w.Together(false, func() error { return s.Send(func() error { return s.done(r, why, u) }) })
}

func (a *API) stream(w http.ResponseWriter, r *http.Request, q *request, h head) error {
	s := &streamSink{w: sse.NewWriter(w, a.Stream), header: w.Header()}
	s.head, s.emit = h, func(e event) error { return s.w.Send(e.name, e.data) }
	s.Begin, s.Patience = s.begin, a.Patience
	defer s.w.Close()
	defer s.Abort()
	err := a.Turns.Run(r.Context(), q.Request, s)
	if err == nil || !s.Abort() {
		return err
	}
	a.note(r, err) // the status line is out: the error is the last event
	if err := s.broke(err); err != nil {
		a.Logger.Debug("an error did not reach the client", "id", q.ID, "err", err)
	}
	return nil
}

// backgroundSink is eventSink on a run that outlives the request.
type backgroundSink struct {
	eventSink
	run *run
}

// Opened implements turn.Opener: from here on the response can be asked for.
func (s *backgroundSink) Opened(r turn.Report) error {
	s.report = r
	s.run.report = r
	s.run.api.register(s.run, s.id())
	defer close(s.run.opened)
	return s.begin()
}

// Chosen implements turn.Sink.
func (s *backgroundSink) Chosen(r turn.Report) error { s.report = r; return nil }

// Event implements turn.Sink.
func (s *backgroundSink) Event(e chat.Event) error { return s.event(e) }

// Done implements turn.Sink.
func (s *backgroundSink) Done(r turn.Report, why chat.FinishReason, u chat.Usage) error {
	return s.done(r, why, u)
}

// background starts a response that goes on when the client leaves. It is accepted once
// its beginning is in the log.
func (a *API) background(w http.ResponseWriter, r *http.Request, q *request, h head) error {
	ctx, stop := context.WithCancel(context.WithoutCancel(r.Context()))
	b := newRun(a, q.Owner, stop)
	if err := a.enter(); err != nil {
		stop()
		return err
	}
	s := &backgroundSink{run: b}
	s.head, s.emit = h, b.add
	go func() {
		defer a.group.Done()
		defer stop()
		err := a.Turns.Run(ctx, q.Request, s)
		if err != nil && b.id != "" {
			a.note(r, err)
			_ = s.broke(err) // a run's ring takes everything
		}
		b.finish(err)
	}()
	select {
	case <-b.opened:
	case <-b.done:
		return b.err
	case <-r.Context().Done(): // nobody knows its id
		stop()
		<-b.done
		return errs.Wrap(errs.Canceled, context.Cause(r.Context()), "the client went away", "")
	}
	if q.stream {
		return a.watch(w, r, b, -1)
	}
	first := head{asked: q.asked, ignored: q.ignored, report: b.report}
	return chatapi.WriteWhole(w, first.object(queued))
}
