package app

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"
	"sync"

	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/ids"
	"macaron/internal/mcp"
	"macaron/internal/record"
	"macaron/internal/repl"
	"macaron/internal/tool"
	"macaron/internal/tool/builtin"
	"macaron/internal/tool/kit"
	"macaron/internal/toolshed"
)

// Toolbox is what tools are made of on this machine: the sandbox, which is opened when it
// is first needed, MCP servers, which are started then, and the shed.
type Toolbox struct {
	Shed *toolshed.Shed
	MCP  *mcp.Client

	cfg  config.Config
	log  *slog.Logger
	mu   sync.Mutex
	pool *repl.Pool
}

// NewToolbox makes one over an open log. Close ends what it has started.
func NewToolbox(cfg config.Config, log toolshed.Log, l *slog.Logger, c clock.Clock, i *ids.Source) *Toolbox {
	t := &Toolbox{cfg: cfg, log: l}
	var servers []mcp.Server
	for _, s := range cfg.MCP {
		header := http.Header{}
		if s.Key != "" {
			header.Set("Authorization", "Bearer "+s.Key.Reveal())
		}
		servers = append(servers, mcp.Server{Name: s.Name, Command: s.Command, Env: s.Env, Dir: s.Dir, URL: s.URL, Header: header, Timeout: s.Timeout, Trusted: s.Trusted})
	}
	t.MCP = mcp.New(servers, mcp.Files{Dir: filepath.Join(cfg.Home, "mcp")}, l)
	t.Shed = &toolshed.Shed{Log: log, Sandbox: t, Cases: toolshed.Files{Dir: filepath.Join(cfg.Home, "shed")}, IDs: i, Clock: c}
	return t
}

// Save keeps a tool that somebody wrote; it is a harness.Saver.
func (t *Toolbox) Save(ctx context.Context, owner string, written record.ToolSaved) (harness.Saved, error) {
	e, err := t.Shed.Save(ctx, owner, written)
	return harness.Saved{Tool: e.Tool, Status: string(e.Status), Parameters: e.Saved.Parameters, Trajectory: e.Saved.Trajectory}, err
}

// Work is the directory below which every workspace lies.
func (t *Toolbox) Work() string { return filepath.Join(t.cfg.Home, "runs") }

// Pool gives the sandboxes.
func (t *Toolbox) Pool(ctx context.Context) (*repl.Pool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pool == nil {
		s := t.cfg.Sandbox
		p, err := repl.Open(ctx, repl.Options{Backend: s.Backend, Python: s.Python, Bubblewrap: s.Bubblewrap, PoolSize: s.Pool, AllowMissing: s.AllowMissing, Root: t.Work(), Log: t.log})
		if err != nil {
			return nil, err
		}
		t.pool = p
	}
	return t.pool, nil
}

// Session implements toolshed.Sandbox.
func (t *Toolbox) Session(ctx context.Context, o repl.SessionOptions) (*repl.Session, error) {
	p, err := t.Pool(ctx)
	if err != nil {
		return nil, err
	}
	return p.Session(ctx, o)
}

// Secret gives a value of [secrets.NAME].
func (t *Toolbox) Secret(name string) (string, bool) {
	s, ok := t.cfg.Secrets[name]
	return s.Reveal(), ok
}

// Variable gives a value of [environment].
func (t *Toolbox) Variable(name string) (string, bool) {
	v, ok := t.cfg.Environment[name]
	return v, ok
}

// Tools makes the tools of a run; it is a harness.Toolbox.
func (t *Toolbox) Tools(ctx context.Context, b harness.Bench) ([]tool.Tool, func() error, error) {
	w := b.Contract.Workspace
	made, err := kit.Build(ctx, b.Contract, kit.Parts{
		Files:   &builtin.Files{Dir: b.Workspace, MaxBytes: int64(w.MaxBytes), MaxFiles: w.MaxFiles},
		Shell:   &builtin.Shell{Run: t.shell(b)},
		Network: t.network(),
		World:   b.World,
		MCP: func(ctx context.Context, server, name string) (tool.Tool, error) {
			return t.MCP.Tool(ctx, server, name, mcp.Keep(b.Keep))
		},
		Skip: harness.Own,
		Secret: func(_ context.Context, name string) (string, error) {
			if v, ok := t.Secret(name); ok {
				return v, nil
			}
			return "", errs.New(errs.NotFound, "there is no secret "+errs.Clip(name)+" on this machine", "the operator adds [secrets."+errs.Clip(name)+"] to config.toml")
		},
		Shed: func(ctx context.Context, digest ids.Digest) (tool.Tool, error) {
			return t.Shed.Promoted(ctx, b.Owner, digest, b.Run, toolshed.Caller(b.Call))
		},
	})
	return made, func() error { return nil }, err
}

func (t *Toolbox) network() builtin.Network {
	var n builtin.Network
	for _, text := range t.cfg.Tools.Networks {
		n.Allowed = append(n.Allowed, netip.MustParsePrefix(text)) // checked when it was read
	}
	return n
}

// shell runs commands in a sandbox that has one workspace.
func (t *Toolbox) shell(b harness.Bench) func(context.Context, []string) (builtin.Ran, error) {
	return func(ctx context.Context, args []string) (builtin.Ran, error) {
		p, err := t.Pool(ctx)
		if err != nil {
			return builtin.Ran{}, err
		}
		real, err := filepath.EvalSymlinks(b.Workspace)
		if err != nil {
			return builtin.Ran{}, disk.Error(err, "the workspace cannot be found")
		}
		env := map[string]string{}
		for _, name := range b.Contract.Environment.Names {
			env[name], _ = t.Variable(name)
		}
		e, err := p.Exec(ctx, repl.Command{Args: args, Dir: "/workspace", Env: env, Binds: []repl.Bind{{From: real, To: "/workspace", Writable: true}},
			Limits: harness.Limits(b.Contract.Sandbox)})
		return builtin.Ran{Exit: e.Code, Output: e.Output, Truncated: e.Truncated, Reason: e.Reason}, err
	}
}

// Close ends the sandboxes and the MCP servers.
func (t *Toolbox) Close() error {
	t.MCP.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pool == nil {
		return nil
	}
	return t.pool.Close()
}
