package repl

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"macaron/internal/disk"
	"macaron/internal/errs"
)

// warmed is an engine that is up, with a workspace that nobody has used.
type warmed struct {
	engine engine
	dir    string
}

// fill starts what the pool lacks, one after the other, in the background.
func (p *Pool) fill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.filling > 0 || len(p.warm) >= p.opts.PoolSize {
		return
	}
	p.filling++
	p.busy.Add(1)
	go func() {
		defer p.busy.Done()
		w, err := p.boot(p.ctx, p.opts.Limits)
		p.mu.Lock()
		p.filling--
		if err == nil {
			p.warm = append(p.warm, w)
		}
		p.mu.Unlock()
		if err == nil {
			p.fill()
		} else if p.ctx.Err() == nil {
			p.log.Warn("a sandbox cannot be kept warm", "error", err)
		}
	}()
}

// Warm tells how many sandboxes wait for a session.
func (p *Pool) Warm() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.warm)
}

// boot starts an engine in a new directory and waits until it is up.
func (p *Pool) boot(ctx context.Context, l Limits) (w warmed, err error) {
	w.dir = filepath.Join(p.root, warmName())
	if err := os.Mkdir(w.dir, 0o700); err != nil {
		return w, disk.Error(err, "a workspace cannot be made")
	}
	if err = disk.Error(p.backend.adopt(w.dir), "a workspace cannot be given to the sandbox's user"); err == nil {
		w.engine, err = p.backend.interpreter(ctx, w.dir, l)
	}
	if err == nil {
		err = p.greet(w.engine)
	}
	if err != nil {
		return w, errors.Join(err, os.RemoveAll(w.dir))
	}
	return w, nil
}

// greet waits for the first message of an engine.
func (p *Pool) greet(eng engine) error {
	up := make(chan error, 1)
	go func() {
		m, err := eng.receive()
		if err == nil && m.Op != "up" {
			err = errors.New("its first message is not the first one")
		}
		up <- err
	}()
	var err error
	select {
	case err = <-up:
	case <-time.After(starting):
		err = errors.New("no message came in time")
	}
	if err == nil {
		return nil
	}
	eng.kill("it did not begin")
	<-eng.ended()
	eng.stdout().begin(4096, 0, nil)
	eng.release()
	return errs.Wrap(errs.Unsupported, err, "the sandbox's Python does not begin: "+err.Error(), "macaron doctor says which layers hold")
}

// checkout gives an engine whose workspace is at dir, from the pool if one waits.
//
// A sandbox sees a directory, not a path: the files of dir move into the directory that
// the waiting sandbox has, and that directory takes the path.
func (p *Pool) checkout(ctx context.Context, dir string, l Limits) (engine, error) {
	w, ok := p.takeWarm(l)
	if !ok {
		var err error
		if w, err = p.boot(ctx, l); err != nil {
			return nil, err
		}
	}
	err := replaceDir(w.dir, dir)
	if err == nil {
		err = p.backend.adopt(dir)
	}
	if err != nil {
		w.engine.kill("its workspace cannot be made")
		<-w.engine.ended()
		w.engine.release()
		return nil, disk.Error(err, "the workspace "+dir+" cannot be made")
	}
	return w.engine, nil
}

func (p *Pool) takeWarm(l Limits) (w warmed, ok bool) {
	defer p.fill()
	p.mu.Lock()
	defer p.mu.Unlock()
	if l != p.opts.Limits {
		return w, false
	}
	for len(p.warm) > 0 && !ok {
		w, p.warm = p.warm[0], p.warm[1:]
		select {
		case <-w.engine.ended(): // somebody killed it while it waited
			w.engine.release()
		default:
			ok = true
		}
	}
	return w, ok
}
