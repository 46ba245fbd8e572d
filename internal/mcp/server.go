package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/tool"
)

// Bounds of what clients may hold.
const (
	maxSessions = 8 // of one tenant
	idle        = 30 * time.Minute
	maxShown    = 64 << 10 // bytes of a result that a client is shown
)

// Work is one session of a client: a Python namespace, and the contract's tools.
type Work interface {
	// Run runs code in the session's sandbox and gives what it printed and its last value.
	Run(ctx context.Context, code string) (Ran, error)
	Defs() []tool.Def
	Call(ctx context.Context, name string, args json.RawMessage) (tool.Result, error)
	Save(ctx context.Context, written json.RawMessage) (tool.Result, error) // keeps a tool that the client wrote
	Shown(name string, r tool.Result, limit int) string                     // what a model may see of a result
	Close() error
}

// Ran is what became of code.
type Ran struct {
	Status    string `json:"status"` // ok, error, interrupted, died
	Output    string `json:"output,omitempty"`
	Value     string `json:"value,omitempty"`
	Traceback string `json:"traceback,omitempty"`
	Truncated bool   `json:"truncated,omitempty"`
}

// Offer is what the server does for its clients. Every function acts for one tenant.
type Offer struct {
	Version string
	Owner   func(q *http.Request) string                          // whom a request acts for
	Open    func(ctx context.Context, owner string) (Work, error) // begins a session
	// Ask is one turn of chat; conversation is that of the turn before, "" begins one. Nil:
	// it is not offered.
	Ask   func(ctx context.Context, owner, conversation, text string) (Answered, error)
	Clock clock.Clock
}

// Answered is what a turn of chat came to.
type Answered struct {
	Answer       string `json:"answer"`
	Adapter      string `json:"adapter"`
	Conversation string `json:"conversation"`
}

// Desk serves clients. Sessions belong to a tenant and end when they are closed, when they
// are idle for half an hour, or with the desk.
type Desk struct {
	offer Offer

	mu   sync.Mutex
	open map[key]*place
}

type key struct{ owner, id string }

// place is one session. It is there before its work is: beginning that may take long, and
// others do not wait for it.
type place struct {
	key
	last time.Time // of its last use; the desk's lock is for it

	busy         sync.Mutex
	work         Work // nil: not begun
	conversation string
	ended        bool
}

// NewDesk makes a desk; nothing is started yet.
func NewDesk(o Offer) *Desk { return &Desk{offer: o, open: map[key]*place{}} }

// Stdio serves one client over this process's standard input and output, for one tenant,
// until the client leaves.
func (d *Desk) Stdio(ctx context.Context, owner string) error {
	return d.server(owner).Run(ctx, &sdk.StdioTransport{})
}

// Handler serves streamable HTTP. The protocol keeps nothing between requests: each gets
// a server that acts for its tenant, and sessions are the desk's.
func (d *Desk) Handler() http.Handler {
	return sdk.NewStreamableHTTPHandler(func(q *http.Request) *sdk.Server { return d.server(d.offer.Owner(q)) }, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true, MaxRequestBodyBytes: 4 << 20})
}

// counter is what one tenant is served at.
type counter struct {
	*Desk
	owner string
	sdk   *sdk.Server
}

func (d *Desk) server(owner string) *sdk.Server {
	c := counter{d, owner, sdk.NewServer(&sdk.Implementation{Name: "macaron", Version: d.offer.Version}, &sdk.ServerOptions{
		Capabilities: &sdk.ServerCapabilities{}, Instructions: "run_code runs Python in a sandbox where the tools of list_tools are functions. A session keeps its variables; name it again to go on.",
	})}
	c.tools()
	return c.sdk
}

// place gives a tenant's session by its id, or a new one.
func (d *Desk) place(owner, id string) (*place, error) {
	d.sweep()
	d.mu.Lock()
	defer d.mu.Unlock()
	if id != "" {
		p, ok := d.open[key{owner, id}]
		if !ok {
			return nil, unknown(id)
		}
		p.last = d.offer.Clock.Now()
		return p, nil
	}
	if n := len(d.of(owner)); n >= maxSessions {
		return nil, errs.Newf(errs.Overloaded, "%d sessions are open; close one with close_session", n)
	}
	p := &place{key: key{owner, "mcp_" + strings.ToLower(rand.Text())}, last: d.offer.Clock.Now()}
	d.open[p.key] = p
	return p, nil
}

func unknown(id string) error {
	return errs.New(errs.NotFound, "there is no session "+errs.Clip(id), "leave session out to begin one; list_sessions shows yours")
}

// at does something in a session, one thing at a time. A session that cannot be begun
// leaves nothing behind.
func (d *Desk) at(ctx context.Context, owner, id string, do func(p *place) (any, error)) (any, error) {
	p, err := d.place(owner, id)
	if err != nil {
		return nil, err
	}
	p.busy.Lock()
	defer p.busy.Unlock()
	if p.ended { // while this waited
		return nil, unknown(p.id)
	}
	if p.work == nil {
		if p.work, err = d.offer.Open(ctx, owner); err != nil {
			p.ended = true
			d.take(p.key)
			return nil, err
		}
	}
	return do(p)
}

// take removes a session from the desk; nil if it is not there.
func (d *Desk) take(k key) *place {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.open[k]
	delete(d.open, k)
	return p
}

// of lists a tenant's sessions, the caller having locked.
func (d *Desk) of(owner string) []*place {
	var out []*place
	for _, p := range d.open {
		if p.owner == owner {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *place) int { return strings.Compare(a.id, b.id) })
	return out
}

// sweep ends sessions that nobody has used for long.
func (d *Desk) sweep() {
	d.mu.Lock()
	var old []*place
	for k, p := range d.open {
		if d.offer.Clock.Now().Sub(p.last) > idle {
			old = append(old, p)
			delete(d.open, k)
		}
	}
	d.mu.Unlock()
	for _, p := range old {
		go p.end()
	}
}

// end waits for what the session does and closes it.
func (p *place) end() {
	p.busy.Lock()
	defer p.busy.Unlock()
	if p.work != nil && !p.ended {
		// What a sandbox leaves behind when it ends badly is swept by its pool.
		_ = p.work.Close()
	}
	p.ended = true
}

// Close ends all sessions.
func (d *Desk) Close() {
	d.mu.Lock()
	all := d.open
	d.open = map[key]*place{}
	d.mu.Unlock()
	for _, p := range all {
		p.end()
	}
}
