// Package mcp speaks the Model Context Protocol, by its official SDK, in both directions:
// tools of other people's servers become tools here, and this program's tools, code cells
// and sessions are offered to other people's clients.
//
// What a server says of itself is not believed. Its tools are named by what they say and
// take; one that changes is refused until the operator accepts it.
package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/tool"
)

// Server is how one server is reached: a command on this machine or an address. It comes
// from the operator's settings only.
type Server struct {
	Name    string
	Command []string      // program and arguments
	Env     []string      // NAME=value, all that the program gets
	Dir     string        // where it runs; "": the root of the file system
	URL     string        // of a streamable HTTP endpoint, when there is no command
	Header  http.Header   // sent with each request to URL
	Timeout time.Duration // of connecting and of listing tools
	Trusted bool          // its annotations say what its tools do
}

// Pins remember what the tools of a server were when they were accepted.
type Pins interface {
	Load(server string) (map[string]ids.Digest, error)
	Save(server string, tools map[string]ids.Digest) error
}

// Client holds the connections to all servers. They are opened when they are first
// needed, and again after they were lost.
type Client struct {
	pins  Pins
	log   *slog.Logger
	links map[string]*link

	mu sync.Mutex // of the pins
}

// New makes a client; nothing is started yet.
func New(servers []Server, pins Pins, log *slog.Logger) *Client {
	c := &Client{pins: pins, log: log, links: map[string]*link{}}
	for _, s := range servers {
		c.links[s.Name] = &link{Server: s, log: log.With("mcp", s.Name)}
	}
	return c
}

// Listed is a tool of a server and how it stands.
type Listed struct {
	Name   string     `json:"name"`
	Def    tool.Def   `json:"def"`
	Hash   ids.Digest `json:"hash"`
	Pinned ids.Digest `json:"pinned,omitempty"` // what was accepted; "" if it was never used
}

// Changed reports whether it is another one than was accepted.
func (l Listed) Changed() bool { return l.Pinned != "" && l.Pinned != l.Hash }

// List asks a server for its tools.
func (c *Client) List(ctx context.Context, server string) ([]Listed, error) {
	l, err := c.link(server)
	if err != nil {
		return nil, err
	}
	pins, err := c.pins.Load(server)
	if err != nil {
		return nil, err
	}
	offered, err := l.offered(ctx)
	if err != nil {
		return nil, err
	}
	var out []Listed
	for _, o := range offered.tools {
		out = append(out, Listed{o.name, o.def, o.hash, pins[o.name]})
	}
	return out, nil
}

// Accept takes the tools of a server as they are now; no names take all.
func (c *Client) Accept(ctx context.Context, server string, names ...string) ([]Listed, error) {
	listed, err := c.List(ctx, server)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	pins, err := c.pins.Load(server)
	if err != nil {
		return nil, err
	}
	var out []Listed
	for _, l := range listed {
		if len(names) == 0 || slices.Contains(names, l.Name) {
			pins[l.Name], l.Pinned = l.Hash, l.Hash
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		return nil, errs.New(errs.NotFound, "the server "+server+" has no such tool", "macaron mcp list shows what it has")
	}
	return out, c.pins.Save(server, pins)
}

// Keep keeps content that a tool gives and names it.
type Keep func(content []byte) (ids.Digest, error)

// Tool gives one tool of a server. The first use of a tool pins it. Images and sounds that
// it gives are kept as artifacts; without keep they are told of and dropped.
func (c *Client) Tool(ctx context.Context, server, name string, keep Keep) (tool.Tool, error) {
	l, err := c.link(server)
	if err != nil {
		return nil, err
	}
	offered, err := l.offered(ctx)
	if err != nil {
		return nil, err
	}
	o, ok := offered.find(name)
	if !ok {
		return nil, errs.New(errs.NotFound, "the MCP server "+server+" has no tool "+errs.Clip(name), "it has: "+offered.names())
	}
	if err := c.pin(server, o); err != nil {
		return nil, err
	}
	return remote{l, o, keep}, nil
}

// pin refuses a tool that is not the one that was accepted.
func (c *Client) pin(server string, o offer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	pins, err := c.pins.Load(server)
	if err != nil {
		return err
	}
	switch pins[o.name] {
	case o.hash:
		return nil
	case "":
		pins[o.name] = o.hash
		return c.pins.Save(server, pins)
	}
	return changed(server, o.name)
}

func changed(server, name string) error {
	return errs.New(errs.Forbidden, "the tool "+name+" of the MCP server "+server+" is not what it was when it was accepted", "look at it (macaron mcp list "+server+") and accept it (macaron mcp accept "+server+" "+name+")")
}

func (c *Client) link(server string) (*link, error) {
	l, ok := c.links[server]
	if !ok {
		var known []string
		for name := range c.links {
			known = append(known, name)
		}
		slices.Sort(known)
		return nil, errs.New(errs.NotFound, "there is no MCP server "+errs.Clip(server)+" in the settings; there are: "+strings.Join(known, ", "), "the operator adds [mcp."+errs.Clip(server)+"] to config.toml")
	}
	return l, nil
}

// Close ends every connection and the programs behind them.
func (c *Client) Close() {
	var wg sync.WaitGroup
	for _, l := range c.links {
		wg.Go(l.close)
	}
	wg.Wait()
}

// offer is a tool as a server offers it.
type offer struct {
	name string
	def  tool.Def
	hash ids.Digest
}

// defaults of a tool of which nothing is known: the worst.
func defOf(t *sdk.Tool, trusted bool) (tool.Def, error) {
	d := tool.Def{Name: t.Name, Description: t.Description, Effect: tool.Irreversible, Approval: true}
	if d.Description == "" {
		d.Description = t.Title
	}
	var err error
	if d.Parameters, err = json.Marshal(t.InputSchema); err != nil {
		return d, err
	}
	if t.OutputSchema != nil {
		if d.Returns, err = json.Marshal(t.OutputSchema); err != nil {
			return d, err
		}
	}
	if a := t.Annotations; a != nil && trusted {
		switch {
		case a.ReadOnlyHint:
			d.Effect, d.Approval = tool.Read, false
		case a.DestructiveHint != nil && !*a.DestructiveHint:
			d.Effect = tool.Write
		}
	}
	return d, nil
}
