package mcp

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"os/exec"
	"sync"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"macaron/internal/errs"
)

// transport makes what a session runs over, and a function that ends what is behind it.
func (l *link) transport() (sdk.Transport, func(), error) {
	if len(l.Command) > 0 {
		return l.process()
	}
	if l.URL == "" {
		return nil, nil, errs.New(errs.InvalidRequest, "the MCP server "+l.Name+" has neither command nor url", "set one of them")
	}
	client := &http.Client{Transport: signed{l.Header, http.DefaultTransport}, CheckRedirect: func(q *http.Request, via []*http.Request) error {
		if q.URL.Host != via[0].URL.Host || q.URL.Scheme != via[0].URL.Scheme || len(via) > 3 {
			return errs.New(errs.Forbidden, "the MCP server "+l.Name+" redirects to another host", "")
		}
		return nil
	}}
	return &sdk.StreamableClientTransport{Endpoint: l.URL, HTTPClient: client, MaxEventSize: maxMessage, MaxRetries: 2}, client.CloseIdleConnections, nil
}

// process starts a server of this machine: with the variables that the settings name and
// no others, in a process group of its own, so that what it starts ends with it.
func (l *link) process() (sdk.Transport, func(), error) {
	cmd := exec.Command(l.Command[0], l.Command[1:]...) //nolint:noctx // it outlives the call that starts it
	cmd.Env = append([]string{}, l.Env...)              // not nil: that would be all of ours
	cmd.Dir = l.Dir
	if cmd.Dir == "" {
		cmd.Dir = "/"
	}
	cmd.Stderr = &lines{log: l.log}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	end := func() {
		if cmd.Process != nil {
			// The group may be gone already, which is what is wanted.
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}
	return &sdk.CommandTransport{Command: cmd, TerminateDuration: 2 * time.Second}, end, nil
}

// signed adds the operator's headers to each request and bounds each answer.
type signed struct {
	header http.Header
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (s signed) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	for k := range s.header {
		q.Header.Set(k, s.header.Get(k))
	}
	p, err := s.next.RoundTrip(q)
	if err == nil && p.Header.Get("Content-Type") != "text/event-stream" {
		p.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(p.Body, maxMessage), p.Body}
	}
	return p, err
}

// lines logs what a server writes to its standard error, a line at a time.
type lines struct {
	log *slog.Logger
	mu  sync.Mutex
	buf []byte
}

// Write implements io.Writer.
func (w *lines) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf, p...)
	for {
		line, rest, ok := bytes.Cut(w.buf, []byte("\n"))
		if !ok && len(w.buf) < 4096 {
			return len(p), nil
		}
		w.log.Debug("an MCP server writes", "line", errs.Clip(string(line)))
		w.buf = rest
	}
}
