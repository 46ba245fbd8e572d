package runtime_test

import (
	"bufio"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// collector notes whatever reaches this machine: connections, requests, datagrams.
type collector struct {
	tcp net.Listener
	udp net.PacketConn

	mu   sync.Mutex
	hits []string
}

func collect(t *testing.T) *collector {
	t.Helper()
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &collector{tcp: tcp, udp: udp}
	t.Cleanup(func() { _, _ = tcp.Close(), udp.Close() })
	go c.accept()
	go c.receive()
	return c
}

func (c *collector) accept() {
	for {
		conn, err := c.tcp.Accept()
		if err != nil {
			return
		}
		c.hit("connection")
		go c.serve(conn)
	}
}

// serve notes the request line of each request, and refuses none.
func (c *collector) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		if first := lines.Text(); strings.Contains(first, " HTTP/") {
			c.hit(first)
		}
		if lines.Text() == "" {
			_, _ = conn.Write([]byte("HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: *\r\n\r\n"))
		}
	}
}

func (c *collector) receive() {
	buf := make([]byte, 2048)
	for {
		n, _, err := c.udp.ReadFrom(buf)
		if err != nil {
			return
		}
		if n > 0 {
			c.hit("datagram")
		}
	}
}

func (c *collector) hit(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hits = append(c.hits, what)
}

func (c *collector) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.hits...)
}

func (c *collector) has(part string) bool {
	for _, h := range c.all() {
		if strings.Contains(h, part) {
			return true
		}
	}
	return false
}

func (c *collector) ports() (tcp, udp int) {
	return c.tcp.Addr().(*net.TCPAddr).Port, c.udp.LocalAddr().(*net.UDPAddr).Port
}
