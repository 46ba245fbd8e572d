package contract

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"macaron/internal/errs"
)

func (c *Contract) checkSkills() error {
	for i, s := range c.Skills {
		if strings.TrimSpace(s.Text) == "" {
			key := fmt.Sprintf("skills[%d]", i)
			return bad(key, key+" needs text, or file with the path of one that is not empty")
		}
	}
	return unique("skills", names(c.Skills, func(s Skill) string { return s.Name }))
}

func (c *Contract) checkHooks() error {
	for i, h := range c.Hooks {
		if err := c.checkHook(fmt.Sprintf("hooks[%d]", i), h); err != nil {
			return err
		}
	}
	return unique("hooks", names(c.Hooks, func(h Hook) string { return h.Name }))
}

func (c *Contract) checkHook(key string, h Hook) error {
	switch {
	case (h.Check == "") == (h.Python == ""):
		return bad(key, key+" needs either check or python (or file, with the path of its source)")
	case h.With != nil && h.Check == "":
		return bad(key+".with", key+".with is for check")
	case h.Tools != nil && h.On != OnBeforeTool && h.On != OnAfterTool:
		return bad(key+".tools", key+".tools is for hooks on tools")
	case h.On != OnStop && h.MaxRounds != 0:
		return bad(key+".max_rounds", key+".max_rounds is for hooks on stop")
	}
	for i, t := range h.Tools {
		if !slices.Contains(c.toolNames(), t) {
			return bad(fmt.Sprintf("%s.tools[%d]", key, i), fmt.Sprintf("%s.tools has %q, which no [[tools]] has", key, errs.Clip(t)))
		}
	}
	return nil
}

func (c *Contract) checkWorkspace() error {
	for key, patterns := range map[string][]string{"workspace.visible": c.Workspace.Visible, "workspace.outputs": c.Workspace.Outputs} {
		for i, p := range patterns {
			if err := pattern(fmt.Sprintf("%s[%d]", key, i), p); err != nil {
				return err
			}
		}
	}
	return nil
}

// pattern wants one that stays inside the workspace.
func pattern(key, p string) error {
	_, err := path.Match(p, "")
	if err != nil || strings.HasPrefix(p, "/") || strings.Contains(p, `\`) || path.Clean(p) != p || p == ".." || strings.HasPrefix(p, "../") {
		return bad(key, fmt.Sprintf("%s is %q; a pattern is relative, clean and has no .. in front", key, errs.Clip(p)))
	}
	return nil
}
