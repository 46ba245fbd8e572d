package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endless is an engine that never ends an answer.
func endless(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n")
			_ = http.NewResponseController(w).Flush() // a client that left ends the loop
			time.Sleep(5 * time.Millisecond)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

// SIGHUP has the settings read again. The first SIGTERM begins a stop that open answers may delay,
// the second ends it; either way the process ends by itself and in order.
func TestSignals(t *testing.T) {
	home := t.TempDir()
	text, err := os.ReadFile("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	contract, config := filepath.Join(home, "macaron.toml"), filepath.Join(home, "config.toml")
	put := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(contract, strings.ReplaceAll(string(text), `"adapters/`, `"model:`))
	put(config, "drain = \"1h\"\n[queue]\nrunning = 2\n")
	p := launch(t, binary(t), "serve", "MACARON_HOME="+home, "MACARON_CONTRACT="+contract, "MACARON_UPSTREAM="+endless(t), "MACARON_UPSTREAM_DIALECT=openai", "PORT=0")

	put(config, "drain = \"1h\"\n[queue]\nrunning = 1\n")
	p.signal(syscall.SIGHUP)
	p.until("the settings are read again", func() bool { return strings.Contains(p.text("/metrics"), `reloads_total{outcome="ok"} 1`) })

	sent := 0
	_, done := p.chat(func(text string) bool {
		if strings.Count(text, "word") >= 3+sent*20 && sent < 2 { // between the two the answer goes on
			p.signal(syscall.SIGTERM)
			sent++
			p.until("the signal is heard: two that wait are one", func() bool {
				c, err := net.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
				if err == nil {
					_ = c.Close()
				}
				return err != nil
			})
		}
		return false
	}, map[string]any{"role": "user", "content": "x"})
	if done {
		t.Error("an answer without an end ended")
	}
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Error(err)
	}
}

func (p *process) text(path string) string {
	p.t.Helper()
	resp, err := http.Get(p.base + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	var b strings.Builder
	if err := resp.Write(&b); err != nil {
		p.t.Fatal(err)
	}
	return b.String()
}

func (p *process) until(what string, holds func() bool) {
	p.t.Helper()
	for range 6000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.t.Fatalf("never: %s", what)
}
