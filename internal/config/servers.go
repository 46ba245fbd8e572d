package config

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"sort"
	"strings"
	"time"

	"macaron/internal/errs"
)

// Server is an engine below: one of [[engines]], or the upstream settings.
type Server struct {
	Name     string
	URL      string
	Key      Secret
	Dialect  string
	Adapters map[string]string // adapter -> model name there
	Only     bool              // it has those adapters and no others
	Weight   float64           // its share of the sessions
	Timeout  time.Duration     // longest silence
	Longest  time.Duration     // longest answer
	Conns    int               // connections kept open
	KeyFile  string            // where Key was read from, if from a file
	KeyEnv   string            // or from a variable of this name
}

// dialects are the names that backend/upstream knows; llama and plain are former ones.
var dialects = []string{"auto", "macaron", "vllm", "sglang", "llama-server", "anthropic", "openai", "llama", "plain"}

// Dialects lists what the settings take for one.
func Dialects() []string { return slices.Clone(dialects) }

// maxServers bounds the list of engines.
const maxServers = 256

// serverKeys are the settings of one of [[engines]].
var serverKeys = []string{"name", "url", "key_file", "key_env", "dialect", "adapters", "weight", "timeout", "longest", "connections"}

// readServers reads [[engines]]; env gives the keys that key_env names.
func readServers(list any, env func(string) (string, bool)) ([]Server, error) {
	tables, ok := list.([]any)
	if !ok || len(tables) > maxServers {
		return nil, fmt.Errorf("engines must be a list of at most %d tables, each written [[engines]]", maxServers)
	}
	var out []Server
	for i, t := range tables {
		table, ok := t.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("engines[%d] is no table", i)
		}
		s, err := readServer(table, env)
		if err != nil {
			return nil, fmt.Errorf("engines[%d]: %w", i, err)
		}
		if s.Name == "" {
			s.Name = fmt.Sprintf("engine-%d", i+1)
		}
		if slices.ContainsFunc(out, func(o Server) bool { return o.Name == s.Name }) {
			return nil, fmt.Errorf("two engines are called %q", s.Name)
		}
		out = append(out, s)
	}
	return out, nil
}

func readServer(t map[string]any, env func(string) (string, bool)) (Server, error) {
	for k := range t {
		if !slices.Contains(serverKeys, k) {
			return Server{}, fmt.Errorf("unknown key %q; known are %s", errs.Clip(k), strings.Join(serverKeys, ", "))
		}
	}
	s := Server{Dialect: "auto", Weight: 1, Timeout: 2 * time.Minute, Longest: 30 * time.Minute, Conns: 64}
	for _, set := range []error{
		textAt(t, "name", &s.Name), textAt(t, "url", &s.URL), textAt(t, "dialect", &s.Dialect),
		spanAt(t, "timeout", &s.Timeout), spanAt(t, "longest", &s.Longest), s.readNumbers(t), s.readKey(t, env), s.readAdapters(t["adapters"]),
	} {
		if set != nil {
			return Server{}, set
		}
	}
	if !slices.Contains(dialects, s.Dialect) {
		return Server{}, fmt.Errorf("the dialect %q is not one of %s", errs.Clip(s.Dialect), strings.Join(dialects[:6], ", "))
	}
	if err := checkURL(s.URL); err != nil {
		return Server{}, err
	}
	s.URL = strings.TrimRight(s.URL, "/")
	return s, nil
}

func textAt(t map[string]any, key string, into *string) error {
	v, ok := t[key]
	if !ok {
		return nil
	}
	s, ok := v.(string)
	if !ok || s == "" || len(s) > 1024 {
		return fmt.Errorf("%s must be a text of 1 to 1024 characters", key)
	}
	*into = s
	return nil
}

func spanAt(t map[string]any, key string, into *time.Duration) error {
	text := into.String()
	if err := textAt(t, key, &text); err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d > 24*time.Hour {
		return fmt.Errorf("%s must be a duration from 1s to 24h, such as 90s", key)
	}
	*into = d
	return nil
}

func (s *Server) readNumbers(t map[string]any) error {
	switch w := t["weight"].(type) {
	case nil:
	case int64:
		s.Weight = float64(w)
	case float64:
		s.Weight = w
	default:
		s.Weight = math.NaN()
	}
	if !(s.Weight >= 0.001 && s.Weight <= 1000) {
		return fmt.Errorf("weight must be a number from 0.001 to 1000")
	}
	if v, ok := t["connections"]; ok {
		n, whole := v.(int64)
		if !whole || n < 1 || n > 65536 {
			return fmt.Errorf("connections must be a whole number from 1 to 65536")
		}
		s.Conns = int(n)
	}
	return nil
}

// readKey takes the credential from a file or from the environment; the file itself
// holds none.
func (s *Server) readKey(t map[string]any, env func(string) (string, bool)) (err error) {
	var file, name string
	for _, e := range []error{textAt(t, "key_file", &file), textAt(t, "key_env", &name)} {
		if e != nil {
			return e
		}
	}
	switch {
	case file != "" && name != "":
		return fmt.Errorf("key_file and key_env are both set; keep one")
	case file != "":
		s.Key, err = readKey(file)
		s.KeyFile = file
		return err
	case name != "":
		v, ok := nonEmpty(env, name)
		if !ok {
			return fmt.Errorf("key_env names %s, which is not set", errs.Clip(name))
		}
		s.Key, s.KeyEnv = Secret(v), name
	}
	return nil
}

// readAdapters reads a list of adapters, or a table of adapters and their names there.
func (s *Server) readAdapters(v any) error {
	wrong := fmt.Errorf("adapters must be a list of names, or a table of names and model names")
	s.Adapters, s.Only = map[string]string{}, v != nil
	switch v := v.(type) {
	case nil:
	case []any:
		for _, x := range v {
			name, ok := x.(string)
			if !ok || name == "" {
				return wrong
			}
			s.Adapters[name] = name
		}
	case map[string]any:
		for name, x := range v {
			model, ok := x.(string)
			if !ok || name == "" || model == "" {
				return wrong
			}
			s.Adapters[name] = model
		}
	default:
		return wrong
	}
	return nil
}

// Below lists the servers that answer instead of the embedded engine; none: it answers.
func (c Config) Below() []Server {
	if c.Upstream.URL == "" {
		return c.Servers
	}
	u := c.Upstream
	return []Server{{Name: "upstream", URL: u.URL, Key: u.Key, Dialect: u.Dialect, Adapters: u.Models, Weight: 1, Timeout: u.Timeout}}
}

// Labels are the adapters that the server has alone, sorted; none: it has all.
func (s Server) Labels() []string {
	if !s.Only {
		return nil
	}
	var out []string
	for name := range s.Adapters {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return fmt.Errorf("url must be an http or https URL such as http://127.0.0.1:8000/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("url carries credentials, a query or a fragment; put the key in key_file")
	}
	return nil
}
