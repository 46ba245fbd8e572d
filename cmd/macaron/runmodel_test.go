package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	if code, _, says := invoke(t, "", "run", "cancel", none, "--home", home, "--contract", broken, "--listen", anywhere); code != 4 || !strings.Contains(says, "no such run") {
		t.Errorf("without a contract: %d %s", code, says)
	}
	for _, what := range [][]string{{"cancel", none}, {"resume", none}, {"approve", none, "call"}, {"judge", none, "--score", "1"}} {
		args := append([]string{"run"}, append(what, "--home", home, "--contract", contract, "--model", filepath.Join(home, "none.gguf"), "--listen", anywhere)...)
		if code, _, says := invoke(t, "", args...); code != 4 || !strings.Contains(says, "no such run") || strings.Contains(says, "training") {
			t.Errorf("%v without a server: %d %s", what, code, says)
		}
	}
	environment := []string{"MACARON_HOME=" + home, "MACARON_CONTRACT=" + contract, "MACARON_MODEL=" + flags[5], "MACARON_LISTEN=127.0.0.1:0"}
	p := launch(t, binary(t), "serve", environment...)
	args := []string{"run", "cancel", none, "--home", home, "--contract", contract, "--listen", anywhere}
	if code, _, says := invoke(t, "", args...); code != 4 || !strings.Contains(says, "no such run") {
		t.Errorf("with a server elsewhere: %d %s", code, says)
	}
	p.kill()
	if code, _, says := invoke(t, "", append(args, "--model", filepath.Join(home, "none.gguf"))...); code != 4 {
		t.Errorf("after it was killed: %d %s", code, says)
	}
}
