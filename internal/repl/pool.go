package repl

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"macaron/internal/clock"
	"macaron/internal/disk"
	"macaron/internal/errs"
)

// Pool opens sessions and keeps some sandboxes warm. A sandbox serves one session and
// ends with it.
type Pool struct {
	opts    Options
	backend backend
	log     *slog.Logger
	clock   clock.Clock
	root    string // Options.Root without links

	ctx  context.Context // of filling; ends with the pool
	stop func()
	busy sync.WaitGroup

	mu       sync.Mutex
	warm     []warmed
	filling  int
	closed   bool
	sessions map[*Session]bool
}

// Open checks that every needed layer of the sandbox holds, and refuses to go on without
// one that Options.AllowMissing does not name.
func Open(ctx context.Context, o Options) (*Pool, error) {
	if o.Root == "" {
		return nil, errs.New(errs.InvalidRequest, "a pool of sandboxes needs a directory for workspaces", "")
	}
	if err := os.MkdirAll(o.Root, 0o700); err != nil {
		return nil, disk.Error(err, o.Root+" cannot be made")
	}
	root, err := filepath.EvalSymlinks(o.Root)
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return nil, disk.Error(err, o.Root+" cannot be resolved")
	}
	b, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := refuse(b.layers(ctx), o.AllowMissing); err != nil {
		b.close()
		return nil, err
	}
	p := &Pool{opts: o, backend: b, log: o.Log, clock: o.Clock, root: root, sessions: map[*Session]bool{}}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if p.clock == nil {
		p.clock = clock.System{}
	}
	p.opts.Limits = o.Limits.or(Default)
	p.ctx, p.stop = context.WithCancel(context.Background())
	sweep(root)
	p.fill()
	return p, nil
}

// Backend names what keeps the sessions apart: "bubblewrap" or "starlark".
func (p *Pool) Backend() string {
	if p.opts.Backend == "starlark" {
		return p.opts.Backend
	}
	return "bubblewrap"
}

// Session opens a session with a namespace of its own.
func (p *Pool) Session(ctx context.Context, o SessionOptions) (*Session, error) {
	s, err := p.prepare(o)
	if err != nil {
		return nil, err
	}
	eng, err := p.checkout(ctx, s.Workspace, s.limits)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.sessions[s] = true
	closed := p.closed
	p.mu.Unlock()
	if err := s.attach(ctx, eng); err != nil || closed {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

var name = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

func (p *Pool) prepare(o SessionOptions) (*Session, error) {
	for _, t := range o.Stubs {
		for _, n := range append([]string{t.Name}, t.Params...) {
			if !name.MatchString(n) || len(n) > 128 {
				return nil, errs.Newf(errs.InvalidRequest, "%q cannot be a name in Python: letters, digits and _, parts separated by dots", errs.Clip(n))
			}
		}
	}
	s := &Session{ID: cmp.Or(o.ID, "repl_"+rand.Text()), Workspace: o.Workspace, pool: p, opts: o, calls: make(chan struct{}, together)}
	s.opts.Stubs = slices.Clone(o.Stubs)
	s.limits = o.Limits.or(p.opts.Limits).atMost(p.opts.Limits)
	if o.Workspace == "" {
		s.own, s.Workspace = true, filepath.Join(p.root, ".session-"+rand.Text())
	}
	if rel, err := filepath.Rel(p.root, s.Workspace); err != nil || !filepath.IsLocal(rel) || rel == "." {
		return nil, errs.Newf(errs.InvalidRequest, "the workspace %s does not lie below %s", s.Workspace, p.root)
	}
	return s, nil
}

func (p *Pool) forget(s *Session) error {
	p.mu.Lock()
	delete(p.sessions, s)
	p.mu.Unlock()
	if s.own {
		return os.RemoveAll(s.Workspace)
	}
	return nil
}

// Close ends every session and every sandbox that waits, and returns when no process of
// theirs is left.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	var list []*Session
	for s := range p.sessions {
		list = append(list, s)
	}
	p.mu.Unlock()
	p.stop()
	p.busy.Wait()
	var failed []error
	for _, s := range list {
		failed = append(failed, s.Close())
	}
	p.mu.Lock()
	warm := p.warm
	p.warm = nil
	p.mu.Unlock()
	for _, w := range warm {
		w.engine.kill("the pool was closed")
		<-w.engine.ended()
		w.engine.release()
		failed = append(failed, disk.Error(os.RemoveAll(w.dir), w.dir+" cannot be removed"))
	}
	p.backend.close()
	return errors.Join(failed...)
}
