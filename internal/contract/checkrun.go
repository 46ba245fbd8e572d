package contract

import (
	"fmt"
	"math"
	"path"
	"strings"

	"macaron/internal/adapter"
	"macaron/internal/errs"
)

func (c *Contract) checkSkills() error {
	if len(c.Skills) > MaxNames {
		return bad("skills", fmt.Sprintf("%d skills; at most %d", len(c.Skills), MaxNames))
	}
	seen := map[string]bool{}
	for i, s := range c.Skills {
		key := fmt.Sprintf("skills[%d]", i)
		if err := unique(key, s.Name, seen); err != nil {
			return err
		}
		if s.Description == "" || strings.ContainsAny(s.Description, "\r\n") {
			return bad(key+".description", key+".description must be one line")
		}
		if strings.TrimSpace(s.Text) == "" {
			return bad(key, key+" needs text, or file with the path of one that is not empty")
		}
	}
	return nil
}

func (c *Contract) checkHooks() error {
	if len(c.Hooks) > MaxNames {
		return bad("hooks", fmt.Sprintf("%d hooks; at most %d", len(c.Hooks), MaxNames))
	}
	seen := map[string]bool{}
	for i, h := range c.Hooks {
		key := fmt.Sprintf("hooks[%d]", i)
		if err := unique(key, h.Name, seen); err != nil {
			return err
		}
		if err := oneOf(key+".on", h.On, OnStart, OnBeforeTool, OnAfterTool, OnStop); err != nil {
			return err
		}
		if err := c.checkHook(key, h); err != nil {
			return err
		}
	}
	return nil
}

func (c *Contract) checkHook(key string, h Hook) error {
	if (h.Check == "") == (h.Python == "") {
		return bad(key, key+" needs either check or python (or file, with the path of its source)")
	}
	if h.Check != "" && !builtinName.MatchString(h.Check) {
		return bad(key+".check", fmt.Sprintf("%s.check is %q; the name of a check is lower-case words with dots", key, errs.Clip(h.Check)))
	}
	if h.With != nil && h.Check == "" {
		return bad(key+".with", key+".with is for check")
	}
	if err := listed(key+".tools", h.Tools, MaxNames); err != nil {
		return err
	}
	if h.Tools != nil && h.On != OnBeforeTool && h.On != OnAfterTool {
		return bad(key+".tools", key+".tools is for hooks on tools")
	}
	for i, t := range h.Tools {
		if _, ok := c.Tool(t); !ok {
			return bad(fmt.Sprintf("%s.tools[%d]", key, i), fmt.Sprintf("%s.tools has %q, which no [[tools]] has", key, errs.Clip(t)))
		}
	}
	if h.On != OnStop && h.MaxRounds != 0 {
		return bad(key+".max_rounds", key+".max_rounds is for hooks on stop")
	}
	return bounds(count{key + ".max_rounds", h.MaxRounds, 0, MaxRounds})
}

func (c *Contract) checkWorkspace() error {
	w := c.Workspace
	if w.Snapshots != "" {
		if err := oneOf("workspace.snapshots", w.Snapshots, SnapshotNone, SnapshotEnd, SnapshotTurn); err != nil {
			return err
		}
	}
	for _, l := range []struct {
		key      string
		patterns []string
	}{{"workspace.visible", w.Visible}, {"workspace.outputs", w.Outputs}} {
		if err := listed(l.key, l.patterns, MaxNames); err != nil {
			return err
		}
		for i, p := range l.patterns {
			if err := pattern(fmt.Sprintf("%s[%d]", l.key, i), p); err != nil {
				return err
			}
		}
	}
	return bounds(count{"workspace.max_bytes", w.MaxBytes, 0, math.MaxInt32}, count{"workspace.max_files", w.MaxFiles, 0, MaxCalls})
}

// pattern wants one that stays inside the workspace.
func pattern(key, p string) error {
	_, err := path.Match(p, "")
	if err != nil || strings.HasPrefix(p, "/") || strings.Contains(p, `\`) || path.Clean(p) != p || p == ".." || strings.HasPrefix(p, "../") {
		return bad(key, fmt.Sprintf("%s is %q; a pattern is relative, clean and has no .. in front", key, errs.Clip(p)))
	}
	return nil
}

// checkEnvironment wants names and never values: a contract travels.
func (c *Contract) checkEnvironment() error {
	for _, l := range []struct {
		key   string
		names []string
	}{{"environment.names", c.Environment.Names}, {"environment.secrets", c.Environment.Secrets}} {
		if err := listed(l.key, l.names, MaxNames); err != nil {
			return err
		}
		for i, n := range l.names {
			if !variableName.MatchString(n) || len(n) > 64 {
				return bad(fmt.Sprintf("%s[%d]", l.key, i), fmt.Sprintf("%s has an entry that is no name (64 of A-Z a-z 0-9 _ at most); values stand in the operator's settings, never here", l.key))
			}
		}
	}
	return nil
}

func (c *Contract) checkTokens() error {
	t := c.Tokens
	if (t.Call == "") != (t.CallEnd == "") || (t.Result == "") != (t.ResultEnd == "") {
		return bad("tokens", "tokens come in pairs: call and call_end, result and result_end")
	}
	return nil
}

func (c *Contract) checkSandbox() error {
	s := c.Sandbox
	if s.Backend != "" && !builtinName.MatchString(s.Backend) {
		return bad("sandbox.backend", fmt.Sprintf("sandbox.backend is %q, which is no name of one", errs.Clip(s.Backend)))
	}
	return bounds(count{"sandbox.memory_mb", s.MemoryMB, 0, MaxMB}, count{"sandbox.pids", s.PIDs, 0, 32_768}, count{"sandbox.cpu_seconds", s.CPUSeconds, 0, MaxMS / 1000},
		count{"sandbox.disk_mb", s.DiskMB, 0, MaxMB}, count{"sandbox.wall_ms", s.WallMS, 0, MaxMS}, count{"sandbox.output_bytes", s.OutputBytes, 0, 64 << 20})
}

// unique wants a name as adapters have them, that stands there once.
func unique(key, name string, seen map[string]bool) error {
	if adapter.CheckName(name) != nil {
		return bad(key+".name", fmt.Sprintf("%s.name is %q; use 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter or digit", key, errs.Clip(name)))
	}
	if seen[name] {
		return bad(key+".name", fmt.Sprintf("%s.name is %q, which stands there twice", key, name))
	}
	seen[name] = true
	return nil
}
