package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/record"
)

// A command finds the server of its home on any port. Where none serves, what needs no model
// loads none: the one that is named here is not there.
func TestRunsNeedNoAddressAndNoModelToBeEnded(t *testing.T) {
	flags := tiny(t)
	home, contract := flags[1], flags[3]
	const none = "run_01J00000000000000000000000"
	broken := filepath.Join(home, "broken.toml")
	if err := os.WriteFile(broken, []byte("no contract"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, says := run(t, "", "run", "cancel", none, "--home", home, "--contract", broken, "--listen", anywhere); code != 4 || !strings.Contains(says, "no such run") {
		t.Errorf("without a contract: %d %s", code, says)
	}
	for _, what := range [][]string{{"cancel", none}, {"resume", none}, {"approve", none, "call"}, {"judge", none, "--score", "1"}} {
		args := append([]string{"run"}, append(what, "--home", home, "--contract", contract, "--model", filepath.Join(home, "none.gguf"), "--listen", anywhere)...)
		if code, _, says := run(t, "", args...); code != 4 || !strings.Contains(says, "no such run") || strings.Contains(says, "training") {
			t.Errorf("%v without a server: %d %s", what, code, says)
		}
	}
	environment := []string{"MACARON_HOME=" + home, "MACARON_CONTRACT=" + contract, "MACARON_MODEL=" + flags[5], "MACARON_LISTEN=127.0.0.1:0"}
	p := launch(t, binary(t), "serve", environment...)
	args := []string{"run", "cancel", none, "--home", home, "--contract", contract, "--listen", anywhere}
	if code, _, says := run(t, "", args...); code != 4 || !strings.Contains(says, "no such run") {
		t.Errorf("with a server elsewhere: %d %s", code, says)
	}
	p.kill()
	if code, _, says := run(t, "", append(args, "--model", filepath.Join(home, "none.gguf"))...); code != 4 {
		t.Errorf("after it was killed: %d %s", code, says)
	}
}

// The command that is printed for a run that waits is about the same home and contract.
func TestTheNextCommandIsAboutTheSameRun(t *testing.T) {
	var told bytes.Buffer
	e := &env{err: &told, flags: map[string]string{"contract": "it's.toml", "home": "h", "log.level": "error"}}
	for status, want := range map[record.RunStatus]string{
		record.RunWaiting: "macaron run approve run_1 call_1 [--no] --home 'h' --contract 'it'\\''s.toml'\n",
		record.RunInDoubt: "macaron run resume run_1 --home 'h' --contract 'it'\\''s.toml' --assume-done call_1   or   --retry call_1\n",
	} {
		told.Reset()
		r := &taskRun{ID: "run_1", Status: status}
		if err := json.Unmarshal([]byte(`{"waits": {"call": "call_1", "name": "f"}}`), r); err != nil {
			t.Fatal(err)
		}
		if err := e.printRun(r); err != nil || !strings.HasSuffix(told.String(), want) {
			t.Errorf("%s: %v %q", status, err, told.String())
		}
	}
}
