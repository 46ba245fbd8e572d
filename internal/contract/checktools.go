package contract

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

var (
	toolName     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
	builtinName  = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerName   = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	secretHole   = regexp.MustCompile(`\{\{secret:([^}]*)\}\}`)
	parameter    = regexp.MustCompile(`\{\{([^}]*)\}\}`)
)

// reserved are words that Python keeps for itself; a stub cannot have them.
var reserved = strings.Fields("False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield")

func (c *Contract) checkServers() error {
	if len(c.MCP) > MaxNames {
		return bad("mcp", fmt.Sprintf("%d MCP servers; at most %d", len(c.MCP), MaxNames))
	}
	seen := map[string]bool{}
	for i, s := range c.MCP {
		key := fmt.Sprintf("mcp[%d].name", i)
		if adapter.CheckName(s.Name) != nil || seen[s.Name] {
			return bad(key, fmt.Sprintf("%s is %q; a server's name is 1 to 64 of A-Z a-z 0-9 . _ - and stands there once", key, errs.Clip(s.Name)))
		}
		seen[s.Name] = true
	}
	return nil
}

func (c *Contract) checkTools() error {
	if len(c.Tools) > MaxNames {
		return bad("tools", fmt.Sprintf("%d tools; at most %d", len(c.Tools), MaxNames))
	}
	seen := map[string]bool{}
	for i, t := range c.Tools {
		key := fmt.Sprintf("tools[%d]", i)
		if !toolName.MatchString(t.Name) || slices.Contains(reserved, t.Name) {
			return bad(key+".name", fmt.Sprintf("%s.name is %q; a tool's name is 1 to 64 of A-Z a-z 0-9 _, no digit first, and no word of Python", key, errs.Clip(t.Name)))
		}
		if seen[t.Name] {
			return bad(key+".name", fmt.Sprintf("two tools are named %q", t.Name))
		}
		seen[t.Name] = true
		for _, check := range []func(string, Tool) error{c.checkUse, checkTool, c.checkHTTP} {
			if err := check(key, t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Contract) checkUse(key string, t Tool) error {
	name, builtin := strings.CutPrefix(t.Use, UseBuiltin)
	remote, mcp := strings.CutPrefix(t.Use, UseMCP)
	promoted, shed := strings.CutPrefix(t.Use, UseShed)
	switch {
	case t.Use == UseHTTP, builtin && builtinName.MatchString(name):
		return nil
	case shed:
		if _, err := ids.ParseDigest(promoted); err == nil {
			return nil
		}
	case mcp:
		server, tool, _ := strings.Cut(remote, "/")
		if _, ok := find(c.MCP, func(s Server) bool { return s.Name == server }); !ok {
			return bad(key+".use", fmt.Sprintf("%s.use names the MCP server %q, which no [[mcp]] lists", key, errs.Clip(server)))
		}
		if tool != "" {
			return nil
		}
	}
	return bad(key+".use", fmt.Sprintf("%s.use is %q; it is builtin:NAME, mcp:SERVER/TOOL, shed:sha256:HEX or http", key, errs.Clip(t.Use)))
}

func checkTool(key string, t Tool) error {
	if t.Effect != "" {
		if err := oneOf(key+".effect", t.Effect, Effects...); err != nil {
			return err
		}
	}
	if t.Parameters != nil && t.Parameters["type"] != "object" {
		return bad(key+".parameters", key+`.parameters must be a JSON Schema with type = "object"`)
	}
	if err := listed(key+".noai", t.NoAI, MaxNames); err != nil {
		return err
	}
	for i, p := range t.NoAI {
		if !strings.HasPrefix(p, "/") {
			return bad(fmt.Sprintf("%s.noai[%d]", key, i), fmt.Sprintf("%s.noai has %q, which is no JSON pointer: it begins with /", key, errs.Clip(p)))
		}
	}
	return bounds(count{key + ".retries", t.Retries, 0, 10}, count{key + ".timeout_ms", t.TimeoutMS, 0, MaxMS}, count{key + ".max_calls", t.MaxCalls, 0, MaxCalls})
}

// checkHTTP wants an http tool whole: nothing else says what it is.
func (c *Contract) checkHTTP(key string, t Tool) error {
	h := t.HTTP
	there := h.Method != "" || h.URL != "" || h.Hosts != nil || h.Headers != nil
	if t.Use != UseHTTP {
		if there {
			return bad(key+".http", fmt.Sprintf("%s.http is for use = \"http\"", key))
		}
		return nil
	}
	if t.Description == "" || t.Parameters == nil || t.Effect == "" {
		return bad(key, key+" is an http tool and needs description, parameters and effect")
	}
	if err := oneOf(key+".http.method", h.Method, "GET", "POST", "PUT", "PATCH", "DELETE"); err != nil {
		return err
	}
	u, err := url.Parse(parameter.ReplaceAllString(h.URL, "x"))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return bad(key+".http.url", fmt.Sprintf("%s.http.url is %q; it is an http or https URL without user and fragment", key, errs.Clip(h.URL)))
	}
	if host, _, _ := strings.Cut(strings.SplitN(h.URL, "://", 2)[1], "/"); strings.Contains(host, "{{") {
		return bad(key+".http.url", key+".http.url has a parameter in its host; only path and query can have some")
	}
	if err := listed(key+".http.hosts", h.Hosts, MaxNames); err != nil {
		return err
	}
	return c.checkHeaders(key+".http.headers", h.Headers)
}

func (c *Contract) checkHeaders(key string, headers map[string]string) error {
	for name, value := range headers {
		if !headerName.MatchString(name) || strings.ContainsAny(value, "\r\n\x00") {
			return bad(key, fmt.Sprintf("%s has %q, which is no header", key, errs.Clip(name)))
		}
		for _, m := range secretHole.FindAllStringSubmatch(value, -1) {
			if !has(c.Environment.Secrets, m[1]) {
				return bad(key, fmt.Sprintf("%s.%s uses the secret %q, which environment.secrets does not list", key, name, errs.Clip(m[1])))
			}
		}
	}
	return nil
}

func (c *Contract) checkPolicies() error {
	for _, l := range []struct {
		key     string
		effects []Effect
	}{{"policies.effects", c.Policies.Effects}, {"policies.approve", c.Policies.Approve}} {
		if err := listed(l.key, l.effects, len(Effects)); err != nil {
			return err
		}
		for i, e := range l.effects {
			if err := oneOf(fmt.Sprintf("%s[%d]", l.key, i), e, Effects...); err != nil {
				return err
			}
		}
	}
	return listed("policies.hosts", c.Policies.Hosts, MaxNames)
}
