package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/errs"
)

func TestMCPServersAndSecrets(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "token"), "sk-canary\n")
	write(t, filepath.Join(home, "config.toml"), `
[tools]
networks = "127.0.0.1/32, 10.0.0.0/8"
[mcp.time]
command = ["python3", "-m", "mcp_server_time"]
env = ["PATH"]
[mcp.remote]
url = "https://mcp.example.org/mcp"
key_env = "REMOTE_KEY"
timeout = "5s"
trust_annotations = true
[secrets.API]
file = "`+home+`/token"
`)
	c, err := load(nil, environment("MACARON_HOME", home, "PATH", "/bin", "REMOTE_KEY", "k", "OTHER", "x"))
	if err != nil {
		t.Fatal(err)
	}
	want := []MCPServer{
		{Name: "remote", URL: "https://mcp.example.org/mcp", Key: "k", Timeout: 5 * time.Second, Trusted: true},
		{Name: "time", Command: []string{"python3", "-m", "mcp_server_time"}, Env: []string{"PATH=/bin"}, Timeout: 30 * time.Second},
	}
	if diff := cmp.Diff(want, c.MCP); diff != "" {
		t.Error(diff)
	}
	if c.Secrets["API"].Reveal() != "sk-canary" || len(c.Tools.Networks) != 2 {
		t.Errorf("%v %v", c.Secrets, c.Tools)
	}
}

func TestWrongTablesAreRefused(t *testing.T) {
	for body, says := range map[string]string{
		"[mcp.a]\n": "needs command",
		"[mcp.a]\ncommand = ['x']\nurl = 'https://h/'\n": "not both",
		"[mcp.a]\ncommand = 'x'\n":                       "list of",
		"[mcp.a]\ncommand = ['x']\nshell = true\n":       "unknown key \"shell\"; known are command",
		"[mcp.a]\ncommand = ['x']\nenv = ['NONE']\n":     "NONE, which is not set",
		"[mcp.a]\nurl = 'file:///x'\n":                   "http or https",
		"[mcp.'a/b']\ncommand = ['x']\n":                 "plain name",
		"mcp = 3\n":                                      "[mcp.NAME]",
		"[secrets.A]\nvalue = 'sk-1'\n":                  "unknown key \"value\"",
		"[secrets.A]\n":                                  "needs file or env",
		"[tools]\nnetworks = '10.0.0.1'\n":               "no network",
	} {
		home := t.TempDir()
		write(t, filepath.Join(home, "config.toml"), body)
		_, err := load(nil, environment("MACARON_HOME", home))
		if errs.CodeOf(err) != errs.InvalidRequest || !strings.Contains(err.Error(), says) {
			t.Errorf("%q gives %v", body, err)
		}
	}
}
