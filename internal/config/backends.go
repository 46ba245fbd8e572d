package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"macaron/internal/errs"
)

// Backend is one of [[mint.backends]]: a server elsewhere that speaks the Tinker protocol and
// trains some bases for clients of this one. docs/MINT.md.
type Backend struct {
	Name     string
	Bases    []string
	URL      string
	Key      Secret
	KeyEnv   string        // the variable that it was read from, if from one
	Dialect  string        // auto, json or proto
	Timeout  time.Duration // of a request that is no poll
	Archives []string      // hosts beside its own that give its archives
}

var backendKeys = []string{"name", "bases", "url", "key_file", "key_env", "dialect", "timeout", "archives"}

// readBackends reads [[mint.backends]]; env gives the keys that key_env names.
func readBackends(list any, env func(string) (string, bool)) ([]Backend, error) {
	if list == nil {
		return nil, nil
	}
	tables, ok := list.([]any)
	if !ok || len(tables) > maxServers {
		return nil, fmt.Errorf("mint.backends must be a list of at most %d tables, each written [[mint.backends]]", maxServers)
	}
	var out []Backend
	names, bases := map[string]bool{}, map[string]bool{}
	for i, t := range tables {
		table, ok := t.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("mint.backends[%d] is no table", i)
		}
		b, err := readBackend(table, env)
		if err != nil {
			return nil, fmt.Errorf("mint.backends[%d]: %w", i, err)
		}
		if names[b.Name] {
			return nil, fmt.Errorf("two of mint.backends are called %q", b.Name)
		}
		names[b.Name] = true
		for _, base := range b.Bases {
			if bases[base] {
				return nil, fmt.Errorf("mint.backends has the base %q twice", errs.Clip(base))
			}
			bases[base] = true
		}
		out = append(out, b)
	}
	return out, nil
}

func readBackend(t map[string]any, env func(string) (string, bool)) (Backend, error) {
	for k := range t {
		if !slices.Contains(backendKeys, k) {
			return Backend{}, fmt.Errorf("unknown key %q; known are %s", errs.Clip(k), strings.Join(backendKeys, ", "))
		}
	}
	b := Backend{Dialect: "auto", Timeout: time.Minute}
	var key Server
	for _, set := range []error{
		textAt(t, "name", &b.Name), textAt(t, "url", &b.URL), textAt(t, "dialect", &b.Dialect), spanAt(t, "timeout", &b.Timeout),
		textsAt(t, "bases", &b.Bases), textsAt(t, "archives", &b.Archives), key.readKey(t, env),
	} {
		if set != nil {
			return Backend{}, set
		}
	}
	b.Key, b.KeyEnv = key.Key, key.KeyEnv
	switch {
	case !mcpName.MatchString(b.Name):
		return Backend{}, fmt.Errorf("name must be 1 to 64 letters, digits, dots, underscores and hyphens")
	case len(b.Bases) == 0:
		return Backend{}, fmt.Errorf("bases must list the names of the models that are trained there")
	case !slices.Contains([]string{"auto", "json", "proto"}, b.Dialect):
		return Backend{}, fmt.Errorf("the dialect %q is not one of auto, json, proto", errs.Clip(b.Dialect))
	}
	if err := checkURL(b.URL); err != nil {
		return Backend{}, err
	}
	b.URL = strings.TrimSuffix(strings.TrimRight(b.URL, "/"), "/api/v1")
	return b, nil
}
