package app

import (
	"net"
	"testing"
)

func TestConnectionsAreBounded(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &bounded{Listener: inner, places: make(chan struct{}, 1), closed: make(chan struct{})}
	accepted := make(chan net.Conn, 3)
	ended := make(chan error, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				ended <- err
				return
			}
			accepted <- c
		}
	}()
	for range 2 {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	first := <-accepted
	select {
	case <-accepted:
		t.Fatal("a second connection was accepted beside the first")
	default:
	}
	if len(l.places) != 1 {
		t.Errorf("%d places are taken", len(l.places))
	}
	for range 2 { // the place is given back once
		_ = first.Close()
	}
	second := <-accepted
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("a closed listener accepts")
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}
