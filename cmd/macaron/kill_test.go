package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// binary builds the program as a user does.
func binary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "macaron")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// process is a running `macaron serve` or `macaron up`.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	base string
}

func launch(t *testing.T, program, verb string, environment ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(program, verb, "--log-level", "error")}
	p.cmd.Env = append(os.Environ(), environment...)
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	first, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("it ended at once: %v", err)
	}
	_, rest, _ := strings.Cut(first, "http://")
	p.base = "http://" + strings.SplitN(rest, ";", 2)[0]
	return p
}

// kill is kill -9, and waits for the end.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill() // it may have ended already
		_ = p.cmd.Wait()         // "signal: killed" is what was asked for
	}
}

// chat streams one answer and gives what came until the end or until stop says so.
func (p *process) chat(stop func(text string) bool, messages ...any) (text string, done bool) {
	p.t.Helper()
	body, err := json.Marshal(map[string]any{"model": "macaron/L2", "stream": true, "messages": messages})
	if err != nil {
		p.t.Fatal(err)
	}
	resp, err := http.Post(p.base+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if data == "[DONE]" {
			return text, true
		}
		var c streamed
		if ok && json.Unmarshal([]byte(data), &c) == nil && len(c.Choices) > 0 {
			text += c.Choices[0].Delta.Content
		}
		if stop(text) {
			return text, false
		}
	}
	return text, false
}

// statuses lists the status of every turn of every session, by the admin interface.
func (p *process) statuses() string {
	p.t.Helper()
	var out []string
	for _, s := range p.get("/admin/sessions")["data"].([]any) {
		id := s.(map[string]any)["id"].(string)
		for _, turn := range p.get("/admin/sessions/" + id)["tree"].([]any) {
			out = append(out, turn.(map[string]any)["status"].(string))
		}
	}
	return strings.Join(out, " ")
}

func (p *process) get(path string) map[string]any {
	p.t.Helper()
	resp, err := http.Get(p.base + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	var v map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		p.t.Fatal(err)
	}
	return v
}

// stalling is an engine that answers "first" at once, and later stops after two
// words until the test ends.
func stalling(t *testing.T) string {
	t.Helper()
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a client that was killed is the point here
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(delta, finish string) {
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q},\"finish_reason\":%s}]}\n\n", delta, finish)
			w.(http.Flusher).Flush()
		}
		if !bytes.Contains(body, []byte("stall")) {
			say("first", `"stop"`)
			return
		}
		say("half ", "null")
		say("an answer", "null")
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() { close(release); srv.CloseClientConnections(); srv.Close() })
	return srv.URL + "/v1"
}

// kill -9 during a turn: what the client saw finished is there after the restart and
// the conversation goes on; the turn that was cut is interrupted and is no history.
func TestKillDuringATurnLosesNothingThatWasFinished(t *testing.T) {
	program, home := binary(t), t.TempDir()
	text, err := os.ReadFile("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	contract := filepath.Join(home, "macaron.toml")
	if err := os.WriteFile(contract, bytes.ReplaceAll(text, []byte(`"adapters/`), []byte(`"model:`)), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"MACARON_HOME=" + home, "MACARON_CONTRACT=" + contract, "MACARON_LISTEN=127.0.0.1:0", "MACARON_UPSTREAM=" + stalling(t)}
	type m = map[string]string
	never := func(string) bool { return false }

	p := launch(t, program, "serve", env...)
	if text, done := p.chat(never, m{"role": "user", "content": "hello"}); text != "first" || !done {
		t.Fatalf("%q, done %v", text, done)
	}
	history := []any{m{"role": "user", "content": "hello"}, m{"role": "assistant", "content": "first"}}
	cut, done := p.chat(func(text string) bool {
		if strings.HasSuffix(text, "answer") {
			for tries := 0; p.statuses() == "delivered" && tries < 1000; tries++ { // its beginning may be on disk 100 ms late
				time.Sleep(10 * time.Millisecond)
			}
			p.kill()
			return true
		}
		return false
	}, append(history, m{"role": "user", "content": "stall"})...)
	if done || cut != "half an answer" {
		t.Fatalf("%q, done %v", cut, done)
	}

	p = launch(t, program, "serve", env...)
	if got := p.statuses(); got != "delivered interrupted" {
		t.Errorf("after the kill the turns are %q", got)
	}
	if text, done := p.chat(never, append(history, m{"role": "user", "content": "and now?"})...); text != "first" || !done {
		t.Errorf("%q, done %v", text, done)
	}
	if got := p.statuses(); got != "delivered interrupted delivered" {
		t.Errorf("at the end the turns are %q", got)
	}
}

// A stop by signal ends with exit code 0 and frees the home.
func TestASignalStopsCleanly(t *testing.T) {
	program, home := binary(t), t.TempDir()
	contract := filepath.Join(home, "macaron.toml")
	text, err := os.ReadFile("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(contract, bytes.ReplaceAll(text, []byte(`"adapters/`), []byte(`"model:`)), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"MACARON_HOME=" + home, "MACARON_CONTRACT=" + contract, "MACARON_LISTEN=127.0.0.1:0", "MACARON_UPSTREAM=" + stalling(t)}
	for range 2 {
		p := launch(t, program, "serve", env...)
		p.get("/healthz")
		if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- p.cmd.Wait() }()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("it ended with %v", err)
			}
		case <-time.After(time.Minute):
			t.Fatal("it does not stop")
		}
	}
}
