package upstream

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// direct is a RoundTripper for HTTP/1.1 that writes and reads on the goroutine of the
// request. net/http's Transport has two more goroutines for each connection; handing over
// to them and back was a third of what a turn cost the processor. What is sent and read is
// net/http's own: Request.Write and ReadResponse.
type direct struct {
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	tls     *tls.Config
	silence time.Duration // longest wait for a response's header
	most    int           // idle connections kept for each address

	mu     sync.Mutex
	idle   map[string][]*wire // the last used last
	reaper *time.Timer
}

const (
	idleFor   = 90 * time.Second
	maxHeader = 64 << 10
)

// wire is a connection. It belongs to one request, or is idle.
type wire struct {
	net.Conn
	in    *bufio.Reader // from room
	room  *room
	out   *bufio.Writer
	at    string    // scheme and address
	since time.Time // idle
}

// room bounds what is read of a header.
type room struct {
	r    io.Reader
	left int // negative: no bound
	some bool
}

var errHeader = errors.New("upstream: the header of the response is too long")

func (b *room) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errHeader
	}
	if b.left > 0 && len(p) > b.left {
		p = p[:b.left]
	}
	n, err := b.r.Read(p)
	if b.left > 0 {
		b.left -= n
	}
	b.some = b.some || n > 0
	return n, err
}

// RoundTrip implements http.RoundTripper.
func (d *direct) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	ctx := req.Context()
	for {
		w, used, err := d.wire(req)
		if err != nil {
			return nil, err
		}
		watch := context.AfterFunc(ctx, func() { _ = w.SetDeadline(time.Unix(1, 0)) }) // ends what is going on
		resp, err := w.exchange(req, d.silence)
		if err == nil {
			resp.Body = &reply{ReadCloser: resp.Body, d: d, w: w, watch: watch, ctx: ctx, keep: !resp.Close && !req.Close}
			return resp, nil
		}
		watch()
		_ = w.Close() // it failed already
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// A server may have closed an idle connection while the request was on its way.
		if !used || w.room.some || !rewind(req) {
			return nil, err
		}
	}
}

// rewind makes the body readable again.
func rewind(req *http.Request) bool {
	if req.Body == nil || req.Body == http.NoBody {
		return true
	}
	if req.GetBody == nil {
		return false
	}
	body, err := req.GetBody()
	req.Body = body
	return err == nil
}

// exchange sends a request and reads the header of the response.
func (w *wire) exchange(req *http.Request, silence time.Duration) (*http.Response, error) {
	w.room.left, w.room.some = maxHeader, false
	if err := w.SetDeadline(time.Now().Add(silence)); err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil { // the deadline above may have undone the watch's
		return nil, err
	}
	failed := req.Write(w.out)
	if failed == nil {
		failed = w.out.Flush()
	}
	for { // a server that did not read everything may have answered all the same
		resp, err := http.ReadResponse(w.in, req)
		switch {
		case err != nil:
			return nil, errors.Join(failed, err)
		case resp.StatusCode >= 100 && resp.StatusCode < 200 && resp.StatusCode != http.StatusSwitchingProtocols:
			continue
		}
		resp.Close = resp.Close || failed != nil
		w.room.left = -1
		return resp, w.SetDeadline(time.Time{})
	}
}

// wire takes an idle connection, or makes one.
func (d *direct) wire(req *http.Request) (*wire, bool, error) {
	host, usual := req.URL.Host, "80"
	if req.URL.Scheme == "https" {
		usual = "443"
	}
	if req.URL.Port() == "" {
		host = net.JoinHostPort(req.URL.Hostname(), usual)
	}
	at := req.URL.Scheme + "://" + host
	if w := d.take(at); w != nil {
		return w, true, nil
	}
	conn, err := d.dial(req.Context(), "tcp", host)
	if err != nil {
		return nil, false, err
	}
	if req.URL.Scheme == "https" {
		if conn, err = d.secure(req, conn); err != nil {
			return nil, false, err
		}
	}
	r := &room{r: conn}
	return &wire{Conn: conn, room: r, in: bufio.NewReader(r), out: bufio.NewWriter(conn), at: at}, false, nil
}

func (d *direct) secure(req *http.Request, conn net.Conn) (net.Conn, error) {
	c := d.tls.Clone()
	c.ServerName = req.URL.Hostname()
	ctx, stop := context.WithTimeout(req.Context(), 10*time.Second)
	defer stop()
	safe := tls.Client(conn, c)
	if err := safe.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return safe, nil
}
