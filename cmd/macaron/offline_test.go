package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/testmodel"
)

// Without a network `up` says what to do; once that was done it starts and answers,
// although no source can be reached.
func TestUpWithoutANetwork(t *testing.T) {
	program, home := binary(t), t.TempDir()
	contract, err := filepath.Abs("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"MACARON_HOME=" + home, "MACARON_CONTRACT=" + contract, "MACARON_LISTEN=127.0.0.1:0", "MACARON_MODEL=smollm2-135m-instruct",
		"MACARON_PYTHON=" + filepath.Join(home, "no-python"), "HF_ENDPOINT=http://127.0.0.1:1"}
	do := func(args ...string) (string, int) {
		cmd := exec.Command(program, args...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}

	out, code := do("up")
	if code != errs.SourceUnreachable.Exit() || !strings.Contains(out, "pip:") || !strings.Contains(out, "hf:") {
		t.Fatalf("exit %d, which should name every source:\n%s", code, out)
	}
	if !strings.Contains(out, "macaron model pull smollm2-135m-instruct --source file:PATH") {
		t.Fatalf("it does not say what to do:\n%s", out)
	}
	if out, code := do("model", "pull", "smollm2-135m-instruct", "--source", "file:"+testmodel.Path(t)); code != 0 {
		t.Fatalf("exit %d:\n%s", code, out)
	}
	p := launch(t, program, "up", env...)
	text, done := p.chat(func(string) bool { return false }, map[string]string{"role": "user", "content": "Write a Python function that reverses a string"})
	if !done || text == "" {
		t.Errorf("%q, done %v", text, done)
	}
}
