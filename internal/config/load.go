package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/disk"
	"macaron/internal/errs"
)

// maxFile bounds config.toml and key files in bytes.
const maxFile = 1 << 20

// Load reads config.toml, the process environment and the given flags
// (key -> value, only those that the person set), and checks the result.
func Load(flags map[string]string) (Config, error) {
	c, err := load(flags, os.LookupEnv)
	var named []string
	for _, s := range c.Servers {
		named = append(named, s.KeyEnv)
	}
	for _, b := range c.Mint.Backends {
		named = append(named, b.KeyEnv)
	}
	c.strays = strays(os.Environ(), named)
	return c, err
}

// layer is one source of values, strongest last.
type layer struct {
	origin func(Field) Origin
	get    func(Field) (string, bool)
}

func load(flags map[string]string, env func(string) (string, bool)) (Config, error) {
	c := Config{origins: map[string]Origin{}, values: map[string]string{}}
	fromEnv := layer{
		origin: func(f Field) Origin { return FromEnv + ":" + Origin(f.Env) },
		get:    func(f Field) (string, bool) { return nonEmpty(env, f.Env) },
	}
	fromFlags := layer{
		origin: func(f Field) Origin { return FromFlag + ":--" + Origin(f.Flag) },
		get:    func(f Field) (string, bool) { v, ok := flags[f.Key]; return v, ok },
	}
	home, err := findHome(env, fromEnv, fromFlags)
	if err != nil {
		return c, err
	}
	path := filepath.Join(home, "config.toml")
	file, more, err := readFile(path)
	if err != nil {
		return c, err
	}
	if err := c.readTables(path, more, env); err != nil {
		return c, err
	}
	defaults := layer{
		origin: func(Field) Origin { return FromDefault },
		get: func(f Field) (string, bool) {
			if f.Key == "home" {
				return home, true
			}
			return f.preset, f.preset != ""
		},
	}
	fromFile := layer{
		origin: func(Field) Origin { return FromFile + ":" + Origin(path) },
		get:    func(f Field) (string, bool) { v, ok := file[f.Key]; return v, ok },
	}
	for _, l := range []layer{defaults, fromFile, portLayer(env), otelLayer(env), fromEnv, fromFlags} {
		if err := c.apply(l); err != nil {
			return c, err
		}
	}
	if err := c.finish(home); err != nil {
		return c, err
	}
	return c, nil
}

func (c *Config) apply(l layer) error {
	for _, f := range fields {
		v, ok := l.get(f)
		if !ok {
			continue
		}
		from := l.origin(f)
		if err := f.assign(c, v); err != nil {
			return errs.New(errs.InvalidRequest, fmt.Sprintf("the setting %s (from %s) is wrong: %v", f.Key, from, err), f.Help).In(f.Key)
		}
		if c.values[f.Key] = v; f.secret != nil {
			c.values[f.Key] = Secret(v).String()
		}
		c.origins[f.Key] = from
	}
	return nil
}

// portLayer lets PORT change the port and nothing else; MACARON_LISTEN and
// --listen are stronger.
func portLayer(env func(string) (string, bool)) layer {
	return layer{
		origin: func(Field) Origin { return FromEnv + ":PORT" },
		get: func(f Field) (string, bool) {
			port, ok := nonEmpty(env, "PORT")
			return "127.0.0.1:" + port, ok && f.Key == "listen"
		},
	}
}

func nonEmpty(env func(string) (string, bool), name string) (string, bool) {
	v, ok := env(name)
	return v, ok && v != ""
}

// findHome is settled first, because config.toml lies in it.
func findHome(env func(string) (string, bool), layers ...layer) (string, error) {
	home := ""
	for _, l := range layers {
		if v, ok := l.get(fields[0]); ok {
			home = v
		}
	}
	if home == "" {
		home = defaultHome(env)
	}
	if home == "" {
		return "", errs.New(errs.InvalidRequest, "there is no home directory to keep state in", "set MACARON_HOME to a directory")
	}
	abs, err := filepath.Abs(home)
	if err != nil {
		return "", errs.Wrap(errs.InvalidRequest, err, "MACARON_HOME is not a usable path", "set MACARON_HOME to a directory")
	}
	return abs, nil
}

// tables are the parts of config.toml that are no single settings.
type tables struct{ engines, mcp, secrets, prices, environment, backends any }

func (c *Config) readTables(path string, t tables, env func(string) (string, bool)) (err error) {
	if t.engines != nil {
		if c.Servers, err = readServers(t.engines, env); err != nil {
			return errs.New(errs.InvalidRequest, path+": "+err.Error(), "docs/formats/engines.md shows how engines are set").In("engines")
		}
	}
	if c.MCP, err = readMCP(t.mcp, env); err != nil {
		return errs.New(errs.InvalidRequest, path+": "+err.Error(), "docs/MCP.md shows how servers are set").In("mcp")
	}
	if c.Prices, err = readPrices(t.prices); err != nil {
		return errs.New(errs.InvalidRequest, path+": "+err.Error(), "docs/formats/config.md shows how prices are set").In("prices")
	}
	if c.Secrets, err = readSecrets(t.secrets, env); err != nil {
		return errs.New(errs.InvalidRequest, path+": "+err.Error(), "docs/formats/tools.md shows how secrets are set").In("secrets")
	}
	if c.Mint.Backends, err = readBackends(t.backends, env); err != nil {
		return errs.New(errs.InvalidRequest, path+": "+err.Error(), "docs/MINT.md shows how backends are set").In("mint.backends")
	}
	if c.Environment, err = readEnvironment(t.environment); err != nil {
		return errs.New(errs.InvalidRequest, path+": "+err.Error(), "write NAME = \"value\" under [environment]").In("environment")
	}
	return nil
}

// readFile returns config.toml as dotted keys, and its tables; an absent file is empty.
func readFile(path string) (map[string]string, tables, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, tables{}, nil
	}
	if err != nil {
		return nil, tables{}, disk.Error(err, path+" cannot be read")
	}
	defer f.Close()
	var buf bytes.Buffer
	if n, err := buf.ReadFrom(limited(f)); err != nil || n > maxFile {
		return nil, tables{}, errs.Wrap(errs.FormatInvalid, errors.Join(err, errors.New("longer than 1 MiB or unreadable")), path+" cannot be read", "make it a small TOML file")
	}
	return parseFile(path, buf.Bytes())
}

func parseFile(path string, b []byte) (map[string]string, tables, error) {
	var tree map[string]any
	if err := toml.Unmarshal(b, &tree); err != nil {
		where := path
		var bad *toml.DecodeError
		if errors.As(err, &bad) {
			line, col := bad.Position()
			where = fmt.Sprintf("%s:%d:%d", path, line, col)
		}
		return nil, tables{}, errs.Wrap(errs.FormatInvalid, err, where+" is not valid TOML: "+err.Error(), "correct that line")
	}
	more := tables{tree["engines"], tree["mcp"], tree["secrets"], tree["prices"], tree["environment"], nil}
	if mint, ok := tree["mint"].(map[string]any); ok {
		more.backends = mint["backends"]
		delete(mint, "backends")
	}
	for _, key := range []string{"engines", "mcp", "secrets", "prices", "environment"} {
		delete(tree, key)
	}
	flat := map[string]string{}
	if err := flatten("", tree, flat); err != nil {
		return nil, tables{}, errs.New(errs.FormatInvalid, path+": "+err.Error(), "keys: "+knownKeys())
	}
	return flat, more, nil
}

func flatten(prefix string, tree map[string]any, into map[string]string) error {
	for k, v := range tree {
		key := prefix + k
		switch v := v.(type) {
		case map[string]any:
			if key == "retention.tenants" || key == "upstream.models" {
				into[key] = pairs(v)
				continue
			}
			if err := flatten(key+".", v, into); err != nil {
				return err
			}
		case string, int64, bool, float64:
			if !inFile(key) {
				return fmt.Errorf("unknown key %q", key)
			}
			into[key] = fmt.Sprint(v)
		case []any:
			var err error
			if into[key], err = array(key, v); err != nil {
				return err
			}
		default:
			return fmt.Errorf("the key %q has a value of a kind that no setting takes", key)
		}
	}
	return nil
}

// array is a list as one value, in the form of the environment and of flags.
func array(key string, v []any) (string, error) {
	if !inFile(key) {
		return "", fmt.Errorf("unknown key %q", key)
	}
	if !slices.ContainsFunc(fields, func(f Field) bool { return f.Key == key && f.many }) {
		return "", fmt.Errorf("the key %q takes one value and no array", key)
	}
	var out []string
	for i, one := range v {
		text, ok := one.(string)
		if !ok || strings.TrimSpace(text) == "" || strings.Contains(text, ",") {
			return "", fmt.Errorf("element %d of %q must be a string with something in it and without a comma", i+1, key)
		}
		out = append(out, text)
	}
	return strings.Join(out, ","), nil
}

// inFile reports whether config.toml may hold the key: not home (the file lies in
// it) and not the key itself (a secret belongs in key_file or the environment).
func inFile(key string) bool {
	for _, f := range fields {
		if f.Key == key {
			return key != "home" && f.secret == nil
		}
	}
	return false
}

func pairs(m map[string]any) string {
	var out []string
	for k, v := range m {
		out = append(out, k+"="+fmt.Sprint(v))
	}
	sort.Strings(out)
	return strings.Join(out, ",")
}

func knownKeys() string {
	var keys []string
	for _, f := range fields {
		if inFile(f.Key) {
			keys = append(keys, f.Key)
		}
	}
	return strings.Join(keys, ", ") + ", engines, mcp, secrets, prices, environment, mint.backends"
}
