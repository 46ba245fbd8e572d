package repl

import (
	"context"
	"fmt"
	"time"

	"macaron/internal/errs"
)

// running is the cell that runs.
type running struct {
	entry  Entry
	ctx    context.Context // of its calls; ends with the cell
	cancel func()
	done   chan reply // has room for one
	reason string     // why it was interrupted
	calls  int
}

// begin takes the session's one place for a cell.
func (s *Session) begin(ctx context.Context, c Cell) (*running, engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(); err != nil {
		return nil, nil, err
	}
	if c.ID == "" {
		c.ID = fmt.Sprint(len(s.journal) + 1)
	}
	if len(c.ID) > 128 {
		return nil, nil, errs.New(errs.InvalidRequest, "the id of a cell has more than 128 bytes", "").In("id")
	}
	now := float64(s.pool.clock.Now().UnixMicro()) / 1e6
	if s.replay != nil {
		now = s.replay.now
	}
	s.busy = true
	s.running = &running{done: make(chan reply, 1), entry: Entry{Cell: c.ID, Code: c.Code, Now: now}}
	s.running.ctx, s.running.cancel = context.WithCancel(ctx)
	return s.running, s.engine, nil
}

// perform sends the cell and waits for it, its limits, or the end of the sandbox. An error means
// that the sandbox was gone before the whole cell came to it, so that nothing of it has run.
func (s *Session) perform(r *running, eng engine) (reply, string, error) {
	wall := time.Duration(s.limits.WallMS) * time.Millisecond
	hard := newReaper(func() { eng.kill(fmt.Sprintf("it ran longer than %s and did not heed the interrupt", wall)) })
	defer hard.stop()
	soft := time.AfterFunc(wall, func() { // later where this program stood still
		hard.in(grace)
		s.interrupt(r, fmt.Sprintf("it ran longer than %s", wall))
	})
	defer soft.Stop()
	stop := context.AfterFunc(r.ctx, func() { // not when the cell has ended: stop comes first
		hard.in(grace)
		s.interrupt(r, "it was canceled")
	})
	defer func() {
		stop()
		r.cancel() // ends the calls that are still open
	}()
	err := s.send(eng, request{Op: "run", Cell: r.entry.Cell, Code: r.entry.Code, Now: r.entry.Now})
	if err != nil {
		eng.kill("it no longer listens")
		s.bury(eng)
		return reply{}, "", errs.Wrap(errs.NotFound, err, goneMessage, goneNext)
	}
	select {
	case end := <-r.done:
		return end, s.reasonOf(r), nil
	case <-eng.ended():
	}
	select {
	case end := <-r.done: // it ended, and the sandbox right after it
		return end, s.reasonOf(r), nil
	default:
	}
	s.bury(eng)
	return reply{Status: Died}, eng.why(), nil
}

func (s *Session) reasonOf(r *running) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.reason
}

// interrupt raises KeyboardInterrupt in a cell that still runs.
func (s *Session) interrupt(r *running, reason string) {
	s.mu.Lock()
	eng := s.engine
	if s.running != r || eng == nil {
		s.mu.Unlock()
		return
	}
	r.reason = reason
	s.mu.Unlock()
	_ = s.send(eng, request{Op: "interrupt", Cell: r.entry.Cell}) // else the hard limit ends it
}

// Interrupt raises KeyboardInterrupt in the cell that runs, if one does. The namespace
// is kept, unless the cell does not end within a grace of two seconds after its limit.
func (s *Session) Interrupt() {
	s.mu.Lock()
	r := s.running
	s.mu.Unlock()
	if r != nil {
		s.interrupt(r, "it was interrupted")
	}
}

func (s *Session) outcome(end reply, reason string, r *running) Outcome {
	out := Outcome{Status: end.Status, Value: clip(end.Value), Exception: clip(end.Exception), Traceback: clip(end.Traceback), Calls: r.calls, Now: r.entry.Now,
		CPU: time.Duration(min(max(end.CPU, 0), 1e6) * float64(time.Second))}
	for _, n := range end.Noticed[:min(len(end.Noticed), 32)] {
		out.Noticed = append(out.Noticed, errs.Clip(n))
	}
	if out.Status == Interrupted || out.Status == Died {
		out.Reason = reason
	}
	return out
}

// clip bounds a text of the sandbox, which was meant to bound it itself.
func clip(s string) string {
	const most = 64<<10 + 16
	if len(s) > 4*most { // characters there, bytes here
		return s[:4*most]
	}
	return s
}

func (s *Session) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy, s.running = false, nil
}

// record adds a cell that ran to the journal.
func (s *Session) record(r *running, status Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.entry.Status = status
	s.journal = append(s.journal, r.entry)
}
