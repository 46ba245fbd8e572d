package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBackendsOfTraining(t *testing.T) {
	home := t.TempDir()
	read := func(text string) (Config, error) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		env := map[string]string{"MACARON_HOME": home, "THERE": "tml-secret"}
		return load(nil, func(k string) (string, bool) { v, ok := env[k]; return v, ok })
	}
	c, err := read("[mint]\nsessions = 7\n[[mint.backends]]\nname = \"big\"\nbases = [\"a/B\", \"c\"]\nurl = \"https://x.example/api/v1/\"\nkey_env = \"THERE\"\ntimeout = \"20s\"\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []Backend{{Name: "big", Bases: []string{"a/B", "c"}, URL: "https://x.example", Key: "tml-secret", KeyEnv: "THERE", Dialect: "auto", Timeout: 20 * time.Second}}
	if d := cmp.Diff(want, c.Mint.Backends); d != "" || c.Mint.Sessions != 7 {
		t.Errorf("%s %d", d, c.Mint.Sessions)
	}
	const good = "[[mint.backends]]\nname = \"b\"\nbases = [\"x\"]\nurl = \"http://h\"\n"
	for text, says := range map[string]string{
		good + "more = 1": "unknown key", good + "dialect = \"x\"": "auto, json, proto", good + good: "two of mint.backends", good + "key_env = \"NOT\"": "not set",
		"[[mint.backends]]\nname = \"b\"\nurl = \"http://h\"\n": "bases must", strings.Replace(good, "http://h", "file:///x", 1): "http or https", "[mint]\nbackends = 1": "must be a list",
		strings.Replace(good, "http://h", "http://u:p@h", 1): "credentials", good + strings.Replace(good, "\"b\"", "\"c\"", 1): "twice",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
