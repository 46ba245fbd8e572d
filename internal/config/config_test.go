package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"macaron/internal/errs"
)

func environment(pairs ...string) func(string) (string, bool) {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(k string) (string, bool) { v, ok := m[k]; return v, ok }
}

func write(t *testing.T, path, s string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLaterLayersWinAndOriginsAreKept(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "config.toml"), "listen = \"127.0.0.1:1111\"\nmodel = \"from-file\"\n[engine]\nthreads = 3\n[upstream.models]\nL1 = \"b\"\nL0 = \"a\"\n")
	c, err := load(map[string]string{"model": "from-flag"}, environment("MACARON_HOME", home, "PORT", "2222", "MACARON_MODEL", "from-env"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:2222" || c.Model != "from-flag" || c.Engine.Threads != 3 || c.Home != home {
		t.Errorf("got %+v", c)
	}
	if c.Upstream.Models["L0"] != "a" || c.Upstream.Models["L1"] != "b" {
		t.Errorf("models %v", c.Upstream.Models)
	}
	want := map[string]Origin{"home": "environment:MACARON_HOME", "listen": "environment:PORT", "model": "flag:--model", "engine.context": "default"}
	for _, s := range c.Show() {
		if w, ok := want[s.Key]; ok && s.Origin != w {
			t.Errorf("%s comes from %q, want %q", s.Key, s.Origin, w)
		}
	}
}

func TestListenIsStrongerThanPort(t *testing.T) {
	c, err := load(nil, environment("MACARON_HOME", t.TempDir(), "PORT", "2222", "MACARON_LISTEN", "[::1]:7"))
	if err != nil || c.Listen != "[::1]:7" {
		t.Fatalf("%v %v", c.Listen, err)
	}
}

func TestWrongSettingsNameTheirKeyAndSayWhatToDo(t *testing.T) {
	for _, tc := range []struct{ file, env, value, field string }{
		{env: "MACARON_TLS_CERT", value: "/cert.pem", field: "tls_cert"},
		{env: "MACARON_HOSTS", value: "a.example.org:443", field: "hosts"},
		{env: "MACARON_HOSTS", value: "*.example.org", field: "hosts"},
		{env: "MACARON_CORS_ORIGINS", value: "*", field: "cors_origins"},
		{env: "MACARON_CORS_ORIGINS", value: "null", field: "cors_origins"},
		{env: "MACARON_CORS_ORIGINS", value: "https://a.example.org/", field: "cors_origins"},
		{env: "MACARON_CORS_ORIGINS", value: "https://*.example.org", field: "cors_origins"},
		{env: "MACARON_CONNECTIONS", value: "0", field: "connections"},
		{env: "MACARON_LISTEN", value: "example.org:80", field: "listen"},
		{env: "MACARON_LISTEN", value: "nonsense", field: "listen"},
		{env: "PORT", value: "99999", field: "listen"},
		{env: "PORT", value: "80a", field: "listen"},
		{env: "MACARON_THREADS", value: "-1", field: "engine.threads"},
		{env: "MACARON_THREADS", value: "two", field: "engine.threads"},
		{env: "MACARON_DURABILITY", value: "maybe", field: "durability"},
		{env: "MACARON_UPSTREAM", value: "ftp://x", field: "upstream.url"},
		{env: "MACARON_UPSTREAM", value: "http://u:p@h/v1", field: "upstream.url"},
		{env: "MACARON_UPSTREAM_TIMEOUT", value: "0s", field: "upstream.timeout"},
		{env: "MACARON_UPSTREAM_KEY_FILE", value: "/does/not/exist", field: "upstream.key_file"},
		{env: "MACARON_UPSTREAM_MODELS", value: "L0", field: "upstream.models"},
	} {
		t.Run(tc.env+"="+tc.value, func(t *testing.T) {
			_, err := load(nil, environment("MACARON_HOME", t.TempDir(), tc.env, tc.value))
			e := errs.As(err)
			if e == nil || e.Code != errs.InvalidRequest || e.Field != tc.field || e.Next == "" {
				t.Errorf("got %#v", e)
			}
		})
	}
}

// A list is an array in the file and words with commas everywhere else; the environment
// replaces it whole.
func TestListsMayBeArrays(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "config.toml"), "hosts = [\"a.example\", \"b.example\"]\n[sandbox]\nallow_missing = [\"cgroup\"]\n[mint]\nnames = []\n")
	c, err := load(nil, environment("MACARON_HOME", home))
	if err != nil || !slices.Equal(c.Door.Hosts, []string{"a.example", "b.example"}) || !slices.Equal(c.Sandbox.AllowMissing, []string{"cgroup"}) || len(c.Mint.Names) != 0 {
		t.Errorf("%v %v %v %v", c.Door.Hosts, c.Sandbox.AllowMissing, c.Mint.Names, err)
	}
	c, err = load(nil, environment("MACARON_HOME", home, "MACARON_HOSTS", "c.example"))
	if err != nil || !slices.Equal(c.Door.Hosts, []string{"c.example"}) {
		t.Errorf("%v %v", c.Door.Hosts, err)
	}
	for body, says := range map[string]string{
		"listen = [\"127.0.0.1:1\"]\n": `"listen" takes one value and no array`, "hosts = [1]\n": `element 1 of "hosts" must be a string`,
		"hosts = [\"a\", \"b,c\"]\n": `element 2 of "hosts"`, "colours = [\"red\"]\n": `unknown key "colours"`,
	} {
		write(t, filepath.Join(home, "config.toml"), body)
		if _, err := load(nil, environment("MACARON_HOME", home)); errs.CodeOf(err) != errs.FormatInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%q gives %v", body, err)
		}
	}
}

func TestFileIsStrict(t *testing.T) {
	for _, body := range []string{"colour = 1\n", "[engine]\nspeed = 3\n", "listen = \n", "home = \"/tmp/x\"\n", "[upstream]\nkey = \"sk-1\"\n", "listen = [1]\n", "a = 2026-01-01\n"} {
		home := t.TempDir()
		write(t, filepath.Join(home, "config.toml"), body)
		_, err := load(nil, environment("MACARON_HOME", home))
		if errs.CodeOf(err) != errs.FormatInvalid || !strings.Contains(err.Error(), "config.toml") {
			t.Errorf("%q gives %v", body, err)
		}
	}
}

func TestKeysAreNeverPrinted(t *testing.T) {
	home := t.TempDir()
	key := filepath.Join(home, "key")
	write(t, key, "sk-canary\n")
	c, err := load(nil, environment("MACARON_HOME", home, "MACARON_UPSTREAM_KEY_FILE", key))
	if err != nil || c.Upstream.Key.Reveal() != "sk-canary" {
		t.Fatalf("%v", err)
	}
	direct, err := load(nil, environment("MACARON_HOME", home, "MACARON_UPSTREAM_KEY", "sk-canary"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{fmt.Sprintf("%v %+v", c.Upstream, c), fmt.Sprintf("%#v", c.Upstream), fmt.Sprint(direct.Show())} {
		if strings.Contains(s, "canary") {
			t.Errorf("the key shows in %s", s)
		}
	}
}

func TestWithoutHome(t *testing.T) {
	if _, err := load(nil, environment()); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("got %v", err)
	}
	c, err := load(nil, environment("XDG_DATA_HOME", "/data"))
	if err != nil || c.Home != "/data/macaron" {
		t.Errorf("got %q %v", c.Home, err)
	}
}

func FuzzFile(f *testing.F) {
	for _, s := range []string{"", "listen = \"127.0.0.1:1\"", "[engine]\nthreads=1", "[upstream.models]\nL0='x'", "a.b.c=1", "x = [["} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		flat, _, err := parseFile("config.toml", b)
		if err != nil {
			if errs.CodeOf(err) != errs.FormatInvalid {
				t.Fatalf("uncoded: %v", err)
			}
			return
		}
		for k := range flat {
			if !inFile(k) {
				t.Fatalf("unknown key %q passed", k)
			}
		}
	})
}
