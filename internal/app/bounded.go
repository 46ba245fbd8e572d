package app

import (
	"net"
	"sync"
)

// bounded is a listener with so many open connections at most. The next one waits in the kernel's
// queue until another has closed, so that clients who open many and send nothing take no memory here.
type bounded struct {
	net.Listener
	places chan struct{}
	closed chan struct{}
	once   sync.Once
}

// unread is how much of an answer may lie in the kernel, unread by its client. Left to itself the
// kernel lets megabytes gather for each client that reads slowly, and an engine run that far ahead.
const unread = 128 << 10

// Accept implements net.Listener.
func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.places <- struct{}{}:
	case <-b.closed:
		return nil, net.ErrClosed
	}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.places
		return nil, err
	}
	if tcp, ok := c.(interface{ SetWriteBuffer(bytes int) error }); ok {
		_ = tcp.SetWriteBuffer(unread) // the kernel's own bound is a wider one
	}
	return &placed{Conn: c, leave: sync.OnceFunc(func() { <-b.places })}, nil
}

// Close implements net.Listener.
func (b *bounded) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.Listener.Close()
}

// placed is a connection that holds a place.
type placed struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (p *placed) Close() error {
	defer p.leave()
	return p.Conn.Close()
}
