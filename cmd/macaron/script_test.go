package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"macaron/internal/engine/enginetest"
)

// TestMain is also the evaluator that a run of the loop starts from within a test.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "forge" {
		main()
	}
	testscript.Main(m, map[string]func(){"macaron": main})
}

// TestScripts runs testdata/script: each starts in a directory with a tiny model
// (tiny.gguf) and adapters for it (L0, L1, new), and with a home of its own.
func TestScripts(t *testing.T) {
	files := map[string]string{"tiny.gguf": enginetest.Model(t, 1), "L0": enginetest.Adapter(t, 1), "L1": enginetest.Adapter(t, 2), "new": enginetest.Adapter(t, 3)}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(e *testscript.Env) error {
			e.Setenv("MACARON_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("MACARON_MODEL", filepath.Join(e.WorkDir, "tiny.gguf"))
			e.Setenv("PIP_NO_INDEX", "1") // no test of this package reaches a network
			for name, from := range files {
				if err := place(filepath.Join(e.WorkDir, name), from); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

func place(to, from string) error {
	if info, err := os.Stat(from); err != nil || info.IsDir() {
		return errors.Join(err, os.CopyFS(to, os.DirFS(from)))
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600)
}

// exits CODE PROGRAM ARGS... runs a program that must end with that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if neg || err != nil || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("%v ended with %d, want %d", args[1:], got, want)
	}
}
