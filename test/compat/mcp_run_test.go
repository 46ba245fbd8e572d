package compat

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/testmodel"
)

// agentWithFiles acts with one tool of a server that others wrote.
const agentWithFiles = `
[[mcp]]
name = "files"
[[tools]]
name = "read_file"
use = "mcp:files/read_file"
effect = "read"
parameters = {type = "object", properties = {path = {enum = ["note.txt"]}}, required = ["path"], additionalProperties = false}
`

// A run of the program with the default model reads a file through the npm package
// @modelcontextprotocol/server-filesystem; call and result are on record. With another
// version of the package, whose tool has another schema, no run begins until the tool is accepted.
func TestARunUsesAServerFromNPM(t *testing.T) {
	program, home, dir := build(t), t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "note.txt"), "The code word is marzipan.\n")
	contract := filepath.Join(home, "agent.toml")
	write(t, contract, testmodel.Talk(t, "../..")+testmodel.Agent(agentWithFiles, "read_file"))
	served := func(version string) { write(t, filepath.Join(home, "config.toml"), fileServer(t, version, dir)) }
	act := func(args ...string) (string, error) {
		cmd := exec.Command(program, append(args, "--home", home, "--contract", contract, "--model", testmodel.Path(t))...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	start := []string{"run", "start", "Read note.txt and say the code word.", "--json"}

	served("@modelcontextprotocol/server-filesystem")
	out, err := act(start...)
	var run struct {
		ID, Status, Answer string
	}
	if err != nil || json.Unmarshal([]byte(out), &run) != nil || run.Status != "done" || !strings.Contains(run.Answer, "marzipan") {
		t.Fatalf("%v\n%s", err, out)
	}
	records, err := act("run", "export", run.ID, "--format", "records")
	if err != nil || !strings.Contains(records, `"tool.called"`) || !strings.Contains(records, `"tool.returned"`) || !strings.Contains(records, "marzipan") {
		t.Errorf("%v\n%s", err, records)
	}

	served("server-filesystem-before")
	if out, err = act(start...); err == nil || !strings.Contains(out, "is not what it was when it was accepted") {
		t.Errorf("a changed tool: %v\n%s", err, out)
	}
	if out, err = act("mcp", "accept", "files", "read_file"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run.ID = ""
	out, _ = act(start...) // whether the model finds the end with this version's words is its affair
	if json.Unmarshal([]byte(out), &run) != nil {
		t.Fatalf("an accepted tool: %s", out)
	}
	if records, err = act("run", "export", run.ID, "--format", "records"); err != nil || !strings.Contains(records, `"tool.returned"`) || !strings.Contains(records, "marzipan") {
		t.Errorf("an accepted tool: %v\n%s", err, records)
	}
}

// fileServer is the operator's word on how an installed version is started: in its
// directory, so that no path that differs from run to run is part of a prompt.
func fileServer(t *testing.T, version, dir string) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	entry := filepath.Join(installed(t, "compat-node"), "node_modules", version, "dist", "index.js")
	return fmt.Sprintf("[mcp.files]\ncommand = [\"/bin/sh\", \"-c\", %q]\n", "cd "+dir+" && exec "+node+" "+entry+" .")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
