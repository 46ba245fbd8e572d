package repl

import (
	"encoding/json"
	"errors"

	"macaron/internal/errs"
)

// together is how many calls of one session are answered at the same time; more wait.
const together = 16

// call answers a call of the running cell in the background.
func (s *Session) call(eng engine, r *running, m reply) error {
	known := false
	for _, t := range s.opts.Stubs {
		known = known || t.Name == m.Name
	}
	var object map[string]json.RawMessage
	switch {
	case !known:
		return errors.New("a call of a tool that the session does not have: " + errs.Clip(m.Name))
	case json.Unmarshal(m.Args, &object) != nil || object == nil:
		return errors.New("a call whose arguments are no object")
	case r == nil:
		go s.answer(eng, m.ID, CallRecord{Error: &CallError{Code: "no_cell", Message: "no cell is running: a call belongs to a cell"}})
		return nil
	}
	s.mu.Lock()
	n := len(r.entry.Calls)
	r.calls++
	r.entry.Calls = append(r.entry.Calls, CallRecord{Name: m.Name, Args: m.Args})
	s.mu.Unlock()
	s.calls <- struct{}{}
	go func() {
		defer func() { <-s.calls }()
		done := s.invoke(r, n, m)
		s.mu.Lock()
		if s.running == r { // else the journal has the entry already
			r.entry.Calls[n] = done
		}
		s.mu.Unlock()
		s.answer(eng, m.ID, done)
	}()
	return nil
}

// invoke asks the Caller, or the record that is replayed.
func (s *Session) invoke(r *running, n int, m reply) CallRecord {
	c := CallRecord{Name: m.Name, Args: m.Args}
	s.mu.Lock()
	again := s.replay
	s.mu.Unlock()
	if again != nil {
		return again.answer(n, c)
	}
	if s.opts.Call == nil {
		c.Error = &CallError{Code: string(errs.NotFound), Message: "nobody answers calls of this session"}
		return c
	}
	value, err := s.opts.Call(r.ctx, r.entry.Cell, m.Name, m.Args)
	if err != nil {
		c.Error = asCallError(err)
		return c
	}
	if c.Value = value; len(value) == 0 {
		c.Value = null
	}
	if len(value) > longestFrame-4096 || !json.Valid(c.Value) {
		c.Value, c.Error = nil, &CallError{Code: string(errs.TooLarge), Message: "the result is no JSON, or larger than a message may be"}
	}
	return c
}

// Error lets a Caller say what Python sees.
func (e *CallError) Error() string { return e.Code + ": " + e.Message }

func asCallError(err error) *CallError {
	var given *CallError
	if errors.As(err, &given) {
		return given
	}
	e := errs.As(err)
	return &CallError{Code: string(e.Code), Message: e.Message, Retryable: e.RetryAfter > 0}
}

// answer sends the result; a sandbox that has ended does not need it.
func (s *Session) answer(eng engine, id int64, c CallRecord) {
	if err := s.send(eng, request{Op: "return", ID: id, Value: c.Value, Error: c.Error}); err != nil {
		s.pool.log.Debug("a result came too late", "session", s.ID, "error", err)
	}
}
