// Package compat holds conversations with the real program, the real model and the real
// adapters through clients that others wrote: the official SDKs of OpenAI (Python, Node) and
// Anthropic, the Vercel AI SDK, LangChain's OpenAI class, the llm command, and curl.
package compat

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"macaron/internal/testmodel"
)

// server is a running `macaron serve` with a home of its own.
type server struct {
	base string // http://127.0.0.1:PORT
	home string
	log  *bytes.Buffer
	cmd  *exec.Cmd
	gone bool // it was killed
}

// build builds the program.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "macaron")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/macaron").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// serve starts the program with a home of its own and waits until it is ready.
func serve(t *testing.T, program string, args ...string) *server {
	t.Helper()
	return serveIn(t, t.TempDir(), program, args...)
}

// serveIn is serve with a home that may have been used before.
func serveIn(t *testing.T, home, program string, args ...string) *server {
	t.Helper()
	args = append([]string{"serve", "--contract", "../../macaron.toml"}, args...)
	return launchIn(t, home, "/readyz", program, append(args, "--listen", "127.0.0.1:0")...)
}

// launch starts a server of the program; ready is the path that answers 200 once it serves.
func launch(t *testing.T, ready, program string, args ...string) *server {
	t.Helper()
	return launchIn(t, t.TempDir(), ready, program, args...)
}

func launchIn(t *testing.T, home, ready, program string, args ...string) *server {
	t.Helper()
	s := &server{home: home, log: &bytes.Buffer{}}
	cmd := exec.Command(program, append(args, "--home", home, "--model", testmodel.Path(t))...)
	s.cmd = cmd
	cmd.Stderr = s.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.gone {
			return
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v\n%s", err, s.log)
		}
	})
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("the server said nothing: %v\n%s", err, s.log)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }() // so that the server never waits for a reader
	_, rest, _ := strings.Cut(first, "http://")
	s.base = "http://" + strings.FieldsFunc(rest, func(r rune) bool { return r == ';' || r == ' ' || r == '\n' })[0]
	s.waitReady(t, ready)
	return s
}

// kill ends the process as a power cut would.
func (s *server) kill(t *testing.T) {
	t.Helper()
	s.gone = true
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // it reports the signal
}

func (s *server) waitReady(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		resp, err := http.Get(s.base + path)
		if err != nil {
			t.Fatalf("%v\n%s", err, s.log)
		}
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode == http.StatusOK {
			return
		}
	}
	t.Fatalf("the server is not ready after two minutes\n%s", s.log)
}

// python runs scenarios of a script, by their names with commas.
func (s *server) python(t *testing.T, script, scenario string, more ...string) {
	t.Helper()
	site := installed(t, "compat")
	program := "python3"
	if p := os.Getenv("MACARON_PYTHON"); p != "" {
		program = p
	}
	cmd := exec.Command(program, append([]string{script, s.base + "/v1", scenario}, more...)...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+site, "PYTHONDONTWRITEBYTECODE=1")
	s.client(t, cmd)
}

// node runs scenarios of a script of the folder node. The scripts are copied, since Node looks
// for modules where a script lies.
func (s *server) node(t *testing.T, script, scenario string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("node")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(installed(t, "compat-node"), "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	s.client(t, exec.Command("node", filepath.Join(dir, script), s.base+"/v1", scenario))
}

// installed is the folder of clients that make compat-deps fills.
func installed(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.Abs("../../.cache/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".ready")); err != nil {
		t.Fatalf("the clients are not installed: run make compat-deps (%v)", err)
	}
	return dir
}

func (s *server) client(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\nthe server's log:\n%s", err, out, s.log)
	}
	fmt.Printf("%s\n", bytes.TrimSpace(out))
}
