package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/errs"
)

func TestEnginesAreReadWhole(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "key"), "sk-file\n")
	write(t, filepath.Join(home, "config.toml"), `
[[engines]]
name = "gpu"
url = "http://10.0.0.5:8000/v1/"
key_file = "`+filepath.Join(home, "key")+`"
dialect = "vllm"
weight = 2.5
timeout = "30s"
longest = "5m"
connections = 8
[engines.adapters]
L2 = "coder"
L0 = "chat"

[[engines]]
url = "http://127.0.0.1:9000/v1"
key_env = "GPU_KEY"
adapters = ["L1"]

[[engines]]
url = "https://h/v1"
`)
	c, err := load(nil, environment("MACARON_HOME", home, "GPU_KEY", "sk-env"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Server{
		{Name: "gpu", URL: "http://10.0.0.5:8000/v1", Key: "sk-file", KeyFile: filepath.Join(home, "key"), Dialect: "vllm", Weight: 2.5, Timeout: 30 * time.Second, Longest: 5 * time.Minute, Conns: 8, Only: true, Adapters: map[string]string{"L2": "coder", "L0": "chat"}},
		{Name: "engine-2", URL: "http://127.0.0.1:9000/v1", Key: "sk-env", KeyEnv: "GPU_KEY", Dialect: "auto", Weight: 1, Timeout: 2 * time.Minute, Longest: 30 * time.Minute, Conns: 64, Only: true, Adapters: map[string]string{"L1": "L1"}},
		{Name: "engine-3", URL: "https://h/v1", Dialect: "auto", Weight: 1, Timeout: 2 * time.Minute, Longest: 30 * time.Minute, Conns: 64, Adapters: map[string]string{}},
	}
	if d := cmp.Diff(want, c.Below()); d != "" {
		t.Error(d)
	}
	if got := strings.Join(want[0].Labels(), " ") + "|" + strings.Join(want[2].Labels(), " "); got != "L0 L2|" {
		t.Error(got)
	}
}

func TestWrongEnginesSayWhich(t *testing.T) {
	for text, says := range map[string]string{
		"engines = 3":                                                                  "list",
		"[engines]\nurl = 'http://h/v1'":                                               "list",
		"[[engines]]\nname = 'a'":                                                      "url",
		"[[engines]]\nurl = 'ftp://h/v1'":                                              "url",
		"[[engines]]\nurl = 'http://u:p@h'":                                            "key_file",
		"[[engines]]\nurl = 'http://h'\nport = 3":                                      "\"port\"",
		"[[engines]]\nurl = 'http://h'\nkey = 'sk-1'":                                  "\"key\"",
		"[[engines]]\nurl = 'http://h'\ndialect = 'tgi'":                               "llama-server",
		"[[engines]]\nurl = 'http://h'\nweight = 0":                                    "weight",
		"[[engines]]\nurl = 'http://h'\nweight = nan":                                  "weight",
		"[[engines]]\nurl = 'http://h'\nweight = 'x'":                                  "weight",
		"[[engines]]\nurl = 'http://h'\ntimeout = '1ms'":                               "timeout",
		"[[engines]]\nurl = 'http://h'\nconnections = 0":                               "connections",
		"[[engines]]\nurl = 'http://h'\nkey_env = 'NOT_SET'":                           "NOT_SET",
		"[[engines]]\nurl = 'http://h'\nkey_file = '/x'\nkey_env = 'A'":                "both",
		"[[engines]]\nurl = 'http://h'\nadapters = 3":                                  "adapters",
		"[[engines]]\nurl = 'http://h'\nadapters = [3]":                                "adapters",
		"[[engines]]\nname='a'\nurl='http://h'\n[[engines]]\nname='a'\nurl='http://h'": "two engines",
		"[upstream]\nurl = 'http://h'\n[[engines]]\nurl = 'http://h'":                  "both",
	} {
		home := t.TempDir()
		write(t, filepath.Join(home, "config.toml"), text)
		_, err := load(nil, environment("MACARON_HOME", home))
		if e := errs.As(err); e == nil || e.Code != errs.InvalidRequest || e.Next == "" || !strings.Contains(e.Message, says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
