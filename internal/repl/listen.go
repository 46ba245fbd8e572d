package repl

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"macaron/internal/errs"
)

// attach begins a namespace in an engine that is up.
func (s *Session) attach(ctx context.Context, eng engine) error {
	s.mu.Lock()
	s.nonce, s.replies, s.engine = rand.Text(), make(chan reply, 1), eng
	s.mu.Unlock()
	hello := request{Op: "hello", Nonce: s.nonce, Seed: s.opts.Seed, Frozen: s.opts.Frozen}
	for _, t := range s.opts.Stubs {
		params := t.Params
		if params == nil {
			params = []string{}
		}
		hello.Stubs = append(hello.Stubs, stub{t.Name, t.Doc, params})
	}
	go s.listen(eng, s.nonce)
	go s.watch(eng)
	if _, err := s.ask(ctx, eng, hello, "ready"); err != nil {
		return err
	}
	eng.refused() // the driver's own: no cell has run
	return nil
}

// send writes one message; a sandbox that does not read is ended by the limits of time.
func (s *Session) send(eng engine, m request) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	return eng.send(m)
}

// ask sends a request other than a cell and waits for its answer.
func (s *Session) ask(ctx context.Context, eng engine, m request, want string) (reply, error) {
	timeout := time.AfterFunc(starting, func() { eng.kill("it did not answer in time") })
	defer timeout.Stop()
	stop := context.AfterFunc(ctx, func() { eng.kill("it was canceled") })
	defer stop()
	eng.stdout().begin(4096, 0, nil)
	if err := s.send(eng, m); err != nil {
		eng.kill("it no longer listens")
	}
	select {
	case got := <-s.replies:
		if got.Op == want {
			return got, nil
		}
		return reply{}, errs.Newf(errs.InvalidRequest, "the session's Python could not %s: %s", m.Op, errs.Clip(got.Message))
	case <-eng.ended():
		said, _, _ := eng.stdout().take()
		s.bury(eng)
		return reply{}, errs.Wrap(errs.Canceled, errors.New(said), "the session's Python ended: "+eng.why(), "")
	}
}

// listen takes every message of an engine until its end. A message that cannot be right
// ends the sandbox: code of a cell wrote it.
func (s *Session) listen(eng engine, nonce string) {
	for {
		m, err := eng.receive()
		if err == nil && m.Nonce != nonce {
			err = fmt.Errorf("a message without the session's nonce")
		}
		if err == nil {
			err = s.take(eng, m)
		}
		if err == nil {
			continue
		}
		select {
		case <-eng.ended():
		case <-time.After(grace / 4): // the end of the pipe comes before the end of the process
			s.pool.log.Warn("a sandbox broke the protocol", "session", s.ID, "error", err)
			eng.kill("it broke the protocol: " + errs.Clip(err.Error()))
		}
		<-eng.ended()
		s.bury(eng)
		return
	}
}

func (s *Session) take(eng engine, m reply) error {
	s.mu.Lock()
	r, replies := s.running, s.replies
	s.mu.Unlock()
	switch m.Op {
	case "call":
		return s.call(eng, r, m)
	case "done":
		if r == nil || m.Cell != r.entry.Cell || m.Status != OK && m.Status != Raised && m.Status != Interrupted {
			return fmt.Errorf("the end of a cell that does not run")
		}
		select {
		case r.done <- m:
			return nil
		default:
			return fmt.Errorf("a cell ended twice")
		}
	case "failed":
		if r != nil {
			return fmt.Errorf("its Python is damaged: %s", errs.Clip(m.Message))
		}
	case "ready", "kept", "loaded":
	default:
		return fmt.Errorf("an unknown message %q", errs.Clip(m.Op))
	}
	select {
	case replies <- m:
		return nil
	default:
		return fmt.Errorf("an answer that nobody asked for")
	}
}

// bury forgets an engine that has ended.
func (s *Session) bury(eng engine) {
	<-eng.ended()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.engine == eng {
		s.engine = nil
		s.pool.log.Info("a sandbox ended", "session", s.ID, "why", eng.why())
		if s.running == nil { // else they are the cell's
			s.between(eng)
		}
		eng.release()
	}
}
