package compat

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/mcp"
	"macaron/internal/tool"
)

// The official Python SDK of the Model Context Protocol, as a client of a running server and
// of the program.
func TestProtocolClient(t *testing.T) {
	program := build(t)
	site := installed(t, "compat")
	s := serve(t, program)
	cmd := exec.Command("python3", "mcp_sdk.py", s.base+"/mcp", program, "mcp", "serve", "--contract", "../../macaron.toml", "--home", t.TempDir())
	cmd.Env = append(os.Environ(), "PYTHONPATH="+site, "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "ok\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A server that others wrote, with nothing in its environment but where its modules lie.
func TestProtocolServer(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	c := mcp.New([]mcp.Server{{Name: "time", Command: []string{python, "-m", "mcp_server_time", "--local-timezone", "UTC"}, Env: []string{"PYTHONPATH=" + installed(t, "compat"), "PYTHONDONTWRITEBYTECODE=1"}}},
		mcp.Files{Dir: filepath.Join(t.TempDir(), "mcp")}, slog.New(slog.DiscardHandler))
	defer c.Close()
	x, err := c.Tool(context.Background(), "time", "convert_time", nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := x.Def(); d.Effect != tool.Irreversible || !d.Approval || !strings.Contains(string(d.Parameters), "source_timezone") {
		t.Errorf("%+v", d)
	}
	r, err := x.Invoke(context.Background(), tool.Call{ID: "c", Arguments: json.RawMessage(`{"source_timezone":"Asia/Tokyo","time":"12:00","target_timezone":"UTC"}`)})
	if err != nil || r.Error != nil || !strings.Contains(string(r.Value), "T03:00:00+00:00") {
		t.Errorf("%s %+v %v", r.Value, r.Error, err)
	}
	r, err = x.Invoke(context.Background(), tool.Call{ID: "d", Arguments: json.RawMessage(`{"source_timezone":"Mars/Base","time":"12:00","target_timezone":"UTC"}`)})
	if err != nil || r.Error == nil {
		t.Errorf("%s %+v %v", r.Value, r.Error, err)
	}
}
