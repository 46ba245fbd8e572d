package repl

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"macaron/internal/errs"
)

// grace is how long a cell may take to end after its interrupt before it is killed.
const grace = 2 * time.Second

// longestCode bounds a cell in bytes.
const longestCode = 1 << 20

// Session is one Python with a namespace that lasts from cell to cell. Its methods may be
// called from several goroutines; one cell runs at a time.
type Session struct {
	ID        string
	Workspace string // directory on this machine that cells see as /workspace

	pool   *Pool
	opts   SessionOptions
	limits Limits
	own    bool // the workspace goes with the session

	sending sync.Mutex
	mu      sync.Mutex
	engine  engine
	nonce   string
	replies chan reply // to requests other than run
	running *running
	busy    bool
	calls   chan struct{} // places for calls that are answered at the same time
	journal []Entry
	replay  *replayed // recorded results that answer instead of the Caller
	closed  bool
}

// running is the cell that runs.
type running struct {
	entry  Entry
	ctx    context.Context // of its calls; ends with the cell
	cancel func()
	done   chan reply // has room for one
	reason string     // why it was interrupted
	calls  int
}

// Run runs a cell and waits for its end. An error means that it did not run; whatever
// code can do to itself is an Outcome. When ctx ends the cell is interrupted.
func (s *Session) Run(ctx context.Context, c Cell) (Outcome, error) {
	if len(c.Code) > longestCode {
		return Outcome{}, errs.Newf(errs.TooLarge, "a cell of %d bytes; %d is the most", len(c.Code), longestCode).In("code")
	}
	r, eng, err := s.begin(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	defer s.finish()
	artifact := &artifact{session: s, cell: r.entry.Cell}
	eng.stdout().begin(s.limits.OutputBytes, int64(s.limits.DiskMB)<<20, artifact.create)
	began := time.Now()
	end, reason := s.perform(r, eng)
	out := s.outcome(end, reason, r)
	out.Wall = time.Since(began)
	var spilled bool
	out.Output, out.Truncated, spilled = eng.stdout().take()
	if spilled {
		out.Artifact = artifact.name
	}
	s.record(r, out.Status)
	s.tell(r, out)
	return out, nil
}

// tell leaves a line in the log for each cell; a louder one for what was ended or does
// what an attack would.
func (s *Session) tell(r *running, out Outcome) {
	level := slog.LevelInfo
	if out.Status == Died || len(out.Noticed) > 0 {
		level = slog.LevelWarn
	}
	s.pool.log.Log(context.WithoutCancel(r.ctx), level, "cell", "session", s.ID, "cell", r.entry.Cell, "status", out.Status, "wall", out.Wall, "calls", out.Calls,
		"exception", out.Exception, "reason", out.Reason, "noticed", out.Noticed)
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

// ready tells whether a request can be made; the lock is held.
func (s *Session) ready() error {
	switch {
	case s.closed:
		return errs.New(errs.NotFound, "the session has been closed", "open another one")
	case s.busy:
		return errs.New(errs.InvalidRequest, "a cell of this session is running; one runs at a time", "wait for its end, or interrupt it")
	case s.engine == nil:
		return errs.New(errs.NotFound, "the session's Python has ended and its namespace is gone", "restart the session, or restore a snapshot")
	}
	return nil
}

// Ended reports whether the session's Python is gone, and its namespace with it.
func (s *Session) Ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engine == nil
}

func (s *Session) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy, s.running = false, nil
}

// perform sends the cell and waits for it, its limits, or the end of the sandbox.
func (s *Session) perform(r *running, eng engine) (reply, string) {
	wall := time.Duration(s.limits.WallMS) * time.Millisecond
	soft := time.AfterFunc(wall, func() { s.interrupt(r, fmt.Sprintf("it ran longer than %s", wall)) })
	defer soft.Stop()
	hard := time.AfterFunc(wall+grace, func() { eng.kill(fmt.Sprintf("it ran longer than %s and did not heed the interrupt", wall)) })
	defer hard.Stop()
	stop := context.AfterFunc(r.ctx, func() { // not when the cell has ended: stop comes first
		s.interrupt(r, "it was canceled")
		hard.Reset(grace)
	})
	defer func() {
		stop()
		r.cancel() // ends the calls that are still open
	}()
	err := s.send(eng, request{Op: "run", Cell: r.entry.Cell, Code: r.entry.Code, Now: r.entry.Now})
	if err != nil {
		eng.kill("it no longer listens")
	}
	select {
	case end := <-r.done:
		return end, s.reasonOf(r)
	case <-eng.ended():
	}
	select {
	case end := <-r.done: // it ended, and the sandbox right after it
		return end, s.reasonOf(r)
	default:
	}
	s.bury(eng)
	return reply{Status: Died}, eng.why()
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

// send writes one message; a sandbox that does not read is ended by the limits of time.
func (s *Session) send(eng engine, m request) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	return eng.send(m)
}

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
	_, err := s.ask(ctx, eng, hello, "ready")
	return err
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
		eng.release()
	}
}

// Restart ends the session's Python, if it still lives, and begins an empty namespace in
// the same workspace. The journal begins anew.
func (s *Session) Restart(ctx context.Context) error {
	if err := s.stop("it was restarted"); err != nil {
		return err
	}
	eng, err := s.pool.checkout(ctx, s.Workspace, s.limits)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.journal = nil
	s.mu.Unlock()
	return s.attach(ctx, eng)
}

// stop ends the engine and waits until nothing of it is left.
func (s *Session) stop(reason string) error {
	s.mu.Lock()
	eng := s.engine
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return errs.New(errs.NotFound, "the session has been closed", "open another one")
	}
	if eng != nil {
		eng.kill(reason)
		s.bury(eng)
	}
	return nil
}

// Close ends the session's Python with all it started, and waits for that.
func (s *Session) Close() error {
	if s.stop("its session was closed") != nil {
		return nil // closed before
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return s.pool.forget(s)
}

// record adds a cell that ran to the journal.
func (s *Session) record(r *running, status Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.entry.Status = status
	s.journal = append(s.journal, r.entry)
}

// null is an absent value.
var null = json.RawMessage("null")
