package chatapi

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// single is a listener with one connection.
type single struct {
	conns chan net.Conn
	ended chan struct{}
}

func (l *single) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.ended:
		return nil, net.ErrClosed
	}
}

func (l *single) Close() error   { close(l.ended); return nil }
func (l *single) Addr() net.Addr { return &net.TCPAddr{} }

// A client that does not read a whole answer loses its connection when the time for it is over;
// the handler, and with it the turn's place, is free then. The time is virtual.
func TestAWholeAnswerHasATimeToBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, conn := net.Pipe()
		l := &single{conns: make(chan net.Conn, 1), ended: make(chan struct{})}
		l.conns <- conn
		left := make(chan error, 1)
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			left <- WriteWhole(w, strings.Repeat("x", 1<<20))
		})}
		served := make(chan error, 1)
		go func() { served <- srv.Serve(l) }()
		if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if _, err := client.Read(make([]byte, 1)); err != nil { // it has begun to come
			t.Fatal(err)
		}
		if err := <-left; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a client that reads nothing is written to: %v", err)
		}
		if took := time.Since(begun); took != departure {
			t.Errorf("after %v", took)
		}
		if n, err := io.Copy(io.Discard, client); err != nil || n >= 1<<20 {
			t.Errorf("the connection goes on: %d bytes, %v", n, err)
		}
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		<-served
	})
}
