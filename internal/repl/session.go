package repl

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"macaron/internal/errs"
)

// grace is how long a cell may take to end after its interrupt before it is killed.
var grace = 2 * time.Second // tests have more, for busy machines

// longestCode bounds a cell in bytes.
const longestCode = 1 << 20

// What is said of a session whose Python was gone before a cell came to it.
const (
	goneMessage = "the session's Python has ended and its namespace is gone"
	goneNext    = "restart the session, or restore a snapshot"
)

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
	s.between(eng)
	began := time.Now()
	end, reason, err := s.perform(r, eng)
	if err != nil {
		return Outcome{}, err
	}
	out := s.outcome(end, reason, r)
	out.Refused = eng.refused()
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
	level := out.Refused.level()
	if out.Status == Died || len(out.Noticed) > 0 {
		level = slog.LevelWarn
	}
	s.pool.log.Log(context.WithoutCancel(r.ctx), level, "cell", "session", s.ID, "cell", r.entry.Cell, "status", out.Status, "wall", out.Wall, "calls", out.Calls,
		"exception", out.Exception, "reason", out.Reason, "noticed", out.Noticed, "refused", out.Refused)
}

// between tells what threads and processes were refused that outlived their cell.
func (s *Session) between(eng engine) {
	if refused := eng.refused(); len(refused) > 0 {
		s.pool.log.Log(context.Background(), refused.level(), "system calls were refused outside a cell", "session", s.ID, "refused", refused)
	}
}

// ready tells whether a request can be made; the lock is held.
func (s *Session) ready() error {
	switch {
	case s.closed:
		return errs.New(errs.NotFound, "the session has been closed", "open another one")
	case s.busy:
		return errs.New(errs.InvalidRequest, "a cell of this session is running; one runs at a time", "wait for its end, or interrupt it")
	case s.engine == nil:
		return errs.New(errs.NotFound, goneMessage, goneNext)
	}
	return nil
}

// Ended reports whether the session's Python is gone, and its namespace with it.
func (s *Session) Ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engine == nil
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

// null is an absent value.
var null = json.RawMessage("null")
