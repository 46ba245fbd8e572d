package upstream

import (
	"context"
	"errors"
	"io"
	"time"
)

// reply is the body of a response. Read to its end it gives the connection back; closed
// before, it closes the connection, which tells the server that nobody reads any more.
type reply struct {
	io.ReadCloser
	d     *direct
	w     *wire // nil once it is given back or closed
	watch func() bool
	ctx   context.Context
	keep  bool
}

// Read implements io.Reader.
func (r *reply) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil && r.w != nil { // the watch's deadline may be undone since
		return 0, err
	}
	n, err := r.ReadCloser.Read(p)
	switch {
	case err == nil || r.w == nil:
	case errors.Is(err, io.EOF):
		r.release(r.keep)
	case r.ctx.Err() != nil:
		err = r.ctx.Err()
	}
	return n, err
}

// Close implements io.Closer.
func (r *reply) Close() error {
	if r.w == nil {
		return nil
	}
	r.release(false)
	return nil
}

// release gives the connection up. If the watch has begun its deadline may come yet, so such
// a connection is not used again.
func (r *reply) release(whole bool) {
	w := r.w
	r.w = nil
	if !r.watch() || !whole || w.in.Buffered() > 0 {
		_ = w.Close() // nothing more is wanted of it
		return
	}
	r.d.put(w)
}

func (d *direct) take(at string) *wire {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.idle[at]
	if len(list) == 0 {
		return nil
	}
	w := list[len(list)-1]
	d.idle[at] = list[:len(list)-1]
	return w
}

func (d *direct) put(w *wire) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.idle[w.at]) >= d.most {
		_ = w.Close() // one too many
		return
	}
	if d.idle == nil {
		d.idle = map[string][]*wire{}
	}
	w.since = time.Now()
	d.idle[w.at] = append(d.idle[w.at], w)
	if d.reaper == nil {
		d.reaper = time.AfterFunc(idleFor, func() { d.reap(time.Now().Add(-idleFor)) })
	}
}

// reap closes what is idle since before a time, and comes again if anything is left.
func (d *direct) reap(before time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	left := 0
	for at, list := range d.idle {
		old := 0
		for old < len(list) && !list[old].since.After(before) {
			_ = list[old].Close()
			old++
		}
		d.idle[at] = append([]*wire(nil), list[old:]...)
		left += len(list) - old
	}
	d.reaper = nil
	if left > 0 {
		d.reaper = time.AfterFunc(idleFor, func() { d.reap(time.Now().Add(-idleFor)) })
	}
}

// CloseIdleConnections is called by http.Client's method of that name.
func (d *direct) CloseIdleConnections() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, list := range d.idle {
		for _, w := range list {
			_ = w.Close()
		}
	}
	d.idle = nil
	if d.reaper != nil {
		d.reaper.Stop()
		d.reaper = nil
	}
}
