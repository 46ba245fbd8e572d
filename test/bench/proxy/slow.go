package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// others is how many turns a second are sent beside slow readers.
const others = 50

// slowly opens readers of answers that do not end, at 1 KB a second each, and measures the turns of
// others beside them: before, while they read, and once they read nothing any more.
func slowly(o options, readers int, window time.Duration) (err error) {
	if o.work, err = os.MkdirTemp("", "slow-proxy"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.work)) }()
	o.running, o.waiting = readers+128, 128
	b := &bench{options: o}
	defer b.stop()
	if b.upstream, err = b.self("upstream", "/health"); err != nil {
		return err
	}
	s, err := b.startMacaron()
	if err != nil {
		return err
	}
	b.subjects = []*subject{s}
	if warm := s.client.open(others, shape{Stream: true}, 2*time.Second); warm.failed != nil {
		return warm.failed
	}
	if err := b.beside(s, "nobody reads slowly", window); err != nil {
		return err
	}
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	slow, err := s.crawl(ctx, readers)
	if err != nil {
		return err
	}
	for _, stage := range []string{"they begin to read 1 KB/s", "they read 1 KB/s", "they read 1 KB/s, later"} {
		if err := b.beside(s, stage, window); err != nil {
			return err
		}
	}
	close(slow.stopped)
	for begun := time.Now(); ; time.Sleep(500 * time.Millisecond) {
		running, err := s.metric("macaron_turns_running", "")
		if err != nil {
			return err
		}
		if running == 0 {
			fmt.Printf("they read nothing any more: after %.1f s no turn of theirs is under way\n", time.Since(begun).Seconds())
			break
		}
		if time.Since(begun) > 2*time.Minute {
			return fmt.Errorf("%.0f turns are under way two minutes after their clients stopped reading", running)
		}
	}
	return b.beside(s, "they are gone", window)
}

// beside measures turns of others, and what the proxy holds.
func (b *bench) beside(s *subject, stage string, window time.Duration) error {
	o := s.client.open(others, shape{Stream: true}, window)
	if o.failed != nil {
		return o.failed
	}
	rss, err := s.rss()
	if err != nil {
		return err
	}
	goal, err := s.metric("go_memstats_next_gc_bytes", "")
	if err != nil {
		return err
	}
	running, err := s.metric("macaron_turns_running", "")
	// A process without a model collects at 300 %, so a collection's goal is four times what it found.
	fmt.Printf("%-28s %d turns of others, %d a second: p50 %5.1f ms, p99 %5.1f ms; %4.0f turns under way, live heap %.0f MB, RSS %.0f MB\n", stage+":", len(o.latencies), others, ms(o.quantile(.5)), ms(o.quantile(.99)), running, goal/4/(1<<20), rss)
	return err
}

// crawling are clients that read slowly, until they are stopped.
type crawling struct {
	stopped chan struct{}
	bytes   atomic.Int64
}

// crawl opens readers, each of which reads a kilobyte a second.
func (s *subject) crawl(ctx context.Context, readers int) (*crawling, error) {
	c := &crawling{stopped: make(chan struct{})}
	for range readers {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { conn.Close() })
		if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
			return nil, err
		}
		t := begin(false)
		t.say("user", endlessly+" please")
		body := t.ask(s.client.model, true)
		if _, err := fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			return nil, err
		}
		if _, err := conn.Read(make([]byte, 1)); err != nil { // the answer has begun
			return nil, err
		}
		go c.read(conn)
	}
	return c, nil
}

func (c *crawling) read(conn net.Conn) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for buffer := make([]byte, 1024); ; {
		select {
		case <-c.stopped:
			return // the connection stays, and nobody reads it
		case <-tick.C:
		}
		n, err := conn.Read(buffer)
		if c.bytes.Add(int64(n)); err != nil {
			return
		}
	}
}
