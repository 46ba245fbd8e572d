package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"macaron/internal/canonical"
	"macaron/internal/errs"
)

// Bounds of what a server may send.
const (
	maxTools   = 1000
	maxMessage = 16 << 20 // bytes of one message
	maxAge     = 10 * time.Second
	rest       = time.Second // between attempts to connect
)

// link is the connection to one server.
type link struct {
	Server
	log *slog.Logger

	mu     sync.Mutex
	s      *sdk.ClientSession
	end    func() // the program behind it
	list   *offers
	failed error // why the last attempt to connect failed
	at     time.Time
}

// offers are the tools of a server at a time.
type offers struct {
	tools []offer
	taken time.Time
}

func (o *offers) find(name string) (offer, bool) {
	for _, t := range o.tools {
		if t.name == name {
			return t, true
		}
	}
	return offer{}, false
}

func (o *offers) names() string {
	var out []string
	for _, t := range o.tools {
		out = append(out, t.name)
	}
	return strings.Join(out, ", ")
}

// session returns the open connection, or opens one. After a failure the next attempt
// waits for a moment; who asks before that gets the same error.
func (l *link) session(ctx context.Context) (*sdk.ClientSession, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.s != nil {
		return l.s, nil
	}
	if l.failed != nil && time.Since(l.at) < rest {
		return nil, l.failed
	}
	if err := l.connect(ctx); err != nil {
		l.failed, l.at = err, time.Now()
		return nil, err
	}
	return l.s, nil
}

func (l *link) connect(ctx context.Context) error {
	transport, end, err := l.transport()
	if err != nil {
		return err
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "macaron", Version: "1"}, &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{}, // nothing of ours is offered to servers
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { l.forget() },
	})
	// The session outlives the call that opens it; only opening it has a time limit.
	whole, cancel := context.WithCancel(context.WithoutCancel(ctx))
	limit := time.AfterFunc(l.timeout(), cancel)
	stop := context.AfterFunc(ctx, cancel)
	s, err := client.Connect(whole, transport, nil)
	limit.Stop()
	stop()
	if err != nil {
		cancel()
		end()
		l.log.Warn("an MCP server cannot be reached", "error", err)
		return errs.Wrap(errs.UpstreamUnavailable, err, "the MCP server "+l.Name+" does not answer", "the operator checks [mcp."+l.Name+"] in config.toml")
	}
	l.s, l.list, l.failed = s, nil, nil
	l.end = func() { cancel(); end() }
	go func() {
		err := s.Wait()
		l.log.Info("the connection to an MCP server ended", "error", err)
		l.drop(s)
	}()
	return nil
}

func (l *link) timeout() time.Duration {
	if l.Timeout > 0 {
		return l.Timeout
	}
	return 30 * time.Second
}

// forget makes the next use ask for the tools again.
func (l *link) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = nil
}

// drop gives up a connection; the next use opens another.
func (l *link) drop(s *sdk.ClientSession) {
	l.mu.Lock()
	if l.s != s || s == nil {
		l.mu.Unlock()
		return
	}
	end := l.end
	l.s, l.list, l.end = nil, nil, nil
	l.mu.Unlock()
	if err := s.Close(); err != nil {
		l.log.Debug("closing a connection to an MCP server", "error", err)
	}
	end()
}

func (l *link) close() {
	l.mu.Lock()
	s := l.s
	l.mu.Unlock()
	l.drop(s)
}

// offered gives the server's tools, at most maxAge old.
func (l *link) offered(ctx context.Context) (*offers, error) {
	s, err := l.session(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	list := l.list
	l.mu.Unlock()
	if list != nil && time.Since(list.taken) < maxAge {
		return list, nil
	}
	ctx, stop := context.WithTimeout(ctx, l.timeout())
	defer stop()
	list = &offers{taken: time.Now()}
	for t, err := range s.Tools(ctx, nil) {
		if err != nil {
			return nil, l.lost(s, err)
		}
		if len(list.tools) == maxTools {
			return nil, errs.Newf(errs.TooLarge, "the MCP server %s has more than %d tools", l.Name, maxTools)
		}
		o, err := l.offer(t)
		if err != nil {
			return nil, err
		}
		list.tools = append(list.tools, o)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.s == s {
		l.list = list
	}
	return list, nil
}

func (l *link) offer(t *sdk.Tool) (offer, error) {
	d, err := defOf(t, l.Trusted)
	if err != nil {
		return offer{}, errs.Wrap(errs.UpstreamFailed, err, fmt.Sprintf("the MCP server %s describes %s in a way that cannot be read", l.Name, errs.Clip(t.Name)), "")
	}
	hash, err := canonical.Hash(struct {
		Name, Title, Description string
		Input, Output            any
		Annotations              *sdk.ToolAnnotations
	}{t.Name, t.Title, t.Description, t.InputSchema, t.OutputSchema, t.Annotations})
	return offer{t.Name, d, hash}, err
}

// lost turns an error into one of ours, and gives up a connection over which no answer came.
func (l *link) lost(s *sdk.ClientSession, err error) error {
	var protocol *jsonrpc.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled):
		return errs.Wrap(errs.Canceled, err, "the MCP server "+l.Name+" did not answer in time", "")
	case errors.As(err, &protocol):
		return errs.Wrap(errs.UpstreamFailed, err, "the MCP server "+l.Name+" failed", "")
	}
	go l.drop(s)
	return errs.Wrap(errs.UpstreamUnavailable, err, "the connection to the MCP server "+l.Name+" was lost", "")
}
