package config

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"macaron/internal/errs"
)

// MCPServer is one of [mcp.NAME]: a server of the Model Context Protocol whose tools
// contracts may name. It is started or called by nothing but this.
type MCPServer struct {
	Name    string
	Command []string // program and arguments; or
	URL     string   // a streamable HTTP endpoint
	Env     []string // NAME=value: all that the program gets
	Dir     string
	Key     Secret // sent to URL as a bearer token
	Timeout time.Duration
	Trusted bool // its annotations are believed
}

// Tools is what this machine lets tools do.
type Tools struct {
	Networks []string // private networks that http tools may reach
}

const (
	maxMCP     = 64
	maxSecrets = 256
)

var (
	mcpKeys    = []string{"command", "url", "env", "dir", "key_file", "key_env", "timeout", "trust_annotations"}
	mcpName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	secretKeys = []string{"file", "env"}
	secretName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
)

// named reads a table of tables, sorted by name.
func named(section string, v any, limit int, name *regexp.Regexp, known []string, read func(name string, t map[string]any) error) error {
	if v == nil {
		return nil
	}
	all, ok := v.(map[string]any)
	if !ok || len(all) > limit {
		return fmt.Errorf("%s must be at most %d tables, each written [%s.NAME]", section, limit, section)
	}
	var names []string
	for n := range all {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		t, ok := all[n].(map[string]any)
		if !ok || !name.MatchString(n) {
			return fmt.Errorf("%s.%s is no table with a plain name", section, errs.Clip(n))
		}
		for k := range t {
			if !slices.Contains(known, k) {
				return fmt.Errorf("%s.%s has the unknown key %q; known are %s", section, n, errs.Clip(k), strings.Join(known, ", "))
			}
		}
		if err := read(n, t); err != nil {
			return fmt.Errorf("%s.%s: %w", section, n, err)
		}
	}
	return nil
}

func readMCP(v any, env func(string) (string, bool)) ([]MCPServer, error) {
	var out []MCPServer
	err := named("mcp", v, maxMCP, mcpName, mcpKeys, func(name string, t map[string]any) error {
		s := MCPServer{Name: name, Timeout: 30 * time.Second}
		key := Server{}
		for _, err := range []error{textAt(t, "url", &s.URL), textAt(t, "dir", &s.Dir), spanAt(t, "timeout", &s.Timeout), textsAt(t, "command", &s.Command), s.readEnv(t, env), key.readKey(t, env), flagAt(t, "trust_annotations", &s.Trusted)} {
			if err != nil {
				return err
			}
		}
		s.Key = key.Key
		if (len(s.Command) > 0) == (s.URL != "") {
			return fmt.Errorf("it needs command, for a program, or url, for a server, and not both")
		}
		if s.URL != "" {
			if err := checkURL(s.URL); err != nil {
				return err
			}
		}
		out = append(out, s)
		return nil
	})
	return out, err
}

// readEnv takes the variables that env names from this process.
func (s *MCPServer) readEnv(t map[string]any, env func(string) (string, bool)) error {
	var names []string
	if err := textsAt(t, "env", &names); err != nil {
		return err
	}
	for _, n := range names {
		v, ok := env(n)
		if !ok || !secretName.MatchString(n) {
			return fmt.Errorf("env names %s, which is not set", errs.Clip(n))
		}
		s.Env = append(s.Env, n+"="+v)
	}
	return nil
}

// readSecrets reads [secrets.NAME], each of which names a file or a variable; the value
// itself never stands in config.toml.
func readSecrets(v any, env func(string) (string, bool)) (map[string]Secret, error) {
	out := map[string]Secret{}
	err := named("secrets", v, maxSecrets, secretName, secretKeys, func(name string, t map[string]any) error {
		source := map[string]any{}
		for from, to := range map[string]string{"file": "key_file", "env": "key_env"} {
			if x, ok := t[from]; ok {
				source[to] = x
			}
		}
		var s Server
		if err := s.readKey(source, env); err != nil {
			return err
		}
		if s.Key == "" {
			return fmt.Errorf("it needs file or env, which say where the value is")
		}
		out[name] = s.Key
		return nil
	})
	return out, err
}

func textsAt(t map[string]any, key string, into *[]string) error {
	v, ok := t[key]
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 || len(list) > 256 {
		return fmt.Errorf("%s must be a list of 1 to 256 texts", key)
	}
	for _, x := range list {
		s, ok := x.(string)
		if !ok || len(s) > 4096 || strings.ContainsRune(s, 0) {
			return fmt.Errorf("%s must be a list of 1 to 256 texts", key)
		}
		*into = append(*into, s)
	}
	return nil
}

func flagAt(t map[string]any, key string, into *bool) error {
	v, ok := t[key]
	if !ok {
		return nil
	}
	if *into, ok = v.(bool); !ok {
		return fmt.Errorf("%s must be true or false", key)
	}
	return nil
}

func network(s string) error {
	if _, err := netip.ParsePrefix(s); err != nil {
		return fmt.Errorf("%q is no network such as 10.1.0.0/16", errs.Clip(s))
	}
	return nil
}
