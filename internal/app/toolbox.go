package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"macaron/internal/contract"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/mcp"
	"macaron/internal/repl"
	"macaron/internal/tool"
	"macaron/internal/tool/builtin"
	"macaron/internal/tool/kit"
)

// toolbox makes the tools of a run, but those that the harness answers itself.
func (a *App) toolbox(ctx context.Context, b harness.Bench) ([]tool.Tool, func() error, error) {
	root, err := os.OpenRoot(b.Workspace)
	if err != nil {
		return nil, nil, disk.Error(err, "the workspace cannot be opened")
	}
	defer root.Close() // the tools open it anew
	c := *b.Contract
	c.Tools = slices.DeleteFunc(slices.Clone(c.Tools), func(t contract.Tool) bool { return harness.Own(t.Use) })
	files := builtin.Files{Root: root, MaxBytes: int64(c.Workspace.MaxBytes), MaxFiles: c.Workspace.MaxFiles}
	made, err := kit.Build(ctx, &c, kit.Parts{
		Files: &files, Shell: &builtin.Shell{Run: a.shell(b)}, Network: a.network(), MCP: a.servers().Tool,
		Secret: func(_ context.Context, name string) (string, error) { return a.mustSecret(name) },
	})
	if err != nil {
		return nil, nil, err
	}
	for i, t := range c.Tools {
		if name, ok := strings.CutPrefix(t.Use, contract.UseBuiltin); ok && strings.HasPrefix(name, "files.") {
			made[i] = inWorkspace{made[i], name, b.Workspace, files}
		}
	}
	return made, func() error { return nil }, nil
}

// inWorkspace is a tool on files that opens the workspace for every call: when Python
// begins, another directory takes the workspace's path, with the files in it.
type inWorkspace struct {
	tool.Tool
	name, dir string
	files     builtin.Files
}

// Invoke implements tool.Tool. What it wrote is the sandbox's.
func (w inWorkspace) Invoke(ctx context.Context, c tool.Call) (tool.Result, error) {
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return tool.Result{}, disk.Error(err, "the workspace cannot be opened")
	}
	defer root.Close() // a directory handle
	w.files.Root = root
	out, err := w.files.Tools()[w.name].Invoke(ctx, c)
	var args struct {
		Path string `json:"path"`
	}
	if err != nil || !w.Def().Effect.Changes() || json.Unmarshal(c.Arguments, &args) != nil || !filepath.IsLocal(args.Path) {
		return out, err
	}
	return out, disk.Error(disk.Hand(root, args.Path), "the file cannot be given to the sandbox")
}

// shell runs commands of a run in a sandbox of their own, on its workspace.
func (a *App) shell(b harness.Bench) func(context.Context, []string) (builtin.Ran, error) {
	return func(ctx context.Context, args []string) (builtin.Ran, error) {
		pool, err := a.sandboxes(ctx)
		if err != nil {
			return builtin.Ran{}, err
		}
		s := b.Contract.Sandbox
		out, err := pool.Exec(ctx, repl.Command{Args: args, Dir: "/workspace", Binds: []repl.Bind{{From: b.Workspace, To: "/workspace", Writable: true}},
			Limits: repl.Limits{MemoryMB: s.MemoryMB, PIDs: s.PIDs, CPUSeconds: s.CPUSeconds, DiskMB: s.DiskMB, WallMS: s.WallMS, OutputBytes: s.OutputBytes}})
		return builtin.Ran{Exit: out.Code, Stdout: out.Output, Truncated: out.Truncated, Reason: out.Reason}, err
	}
}

// network is what http tools may reach: public addresses, and the networks of the settings.
func (a *App) network() builtin.Network {
	var n builtin.Network
	for _, text := range a.cfg.Tools.Networks {
		if p, err := netip.ParsePrefix(text); err == nil { // the settings were checked
			n.Allowed = append(n.Allowed, p)
		}
	}
	return n
}

func (a *App) secret(name string) (string, bool) {
	s, ok := a.cfg.Secrets[name]
	return s.Reveal(), ok
}

func (a *App) mustSecret(name string) (string, error) {
	v, ok := a.secret(name)
	if !ok {
		return "", errs.New(errs.NotFound, "the secret "+errs.Clip(name)+" is not set", "set [secrets."+errs.Clip(name)+"] in config.toml")
	}
	return v, nil
}

// servers connects to the MCP servers of the settings, each when it is first needed.
func (a *App) servers() *mcp.Client {
	a.runs.mu.Lock()
	defer a.runs.mu.Unlock()
	if a.runs.mcp != nil {
		return a.runs.mcp
	}
	var list []mcp.Server
	for _, s := range a.cfg.MCP {
		one := mcp.Server{Name: s.Name, Command: s.Command, Env: s.Env, Dir: s.Dir, URL: s.URL, Timeout: s.Timeout, Trusted: s.Trusted}
		if key := s.Key.Reveal(); key != "" {
			one.Header = http.Header{"Authorization": {"Bearer " + key}}
		}
		list = append(list, one)
	}
	a.runs.mcp = mcp.New(list, mcp.Files{Dir: filepath.Join(a.cfg.Home, "mcp")}, a.log)
	return a.runs.mcp
}
