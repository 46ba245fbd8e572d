package repl

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// spawn leaves children behind: one of its own, and one in another session whose parent is gone.
const spawn = `
import os, time
for far in False, True:
    child = os.fork()
    if child == 0:
        if far:
            os.setsid()
            if os.fork() != 0: os._exit(0)
        time.sleep(600); os._exit(0)
os.waitpid(child, 0) # it has left its own child behind
`

// family are the processes of a sandbox, with bwrap's own.
func family(p *process) []int {
	list := []int{p.cmd.Process.Pid, p.initID}
	for i := 1; i < len(list); i++ {
		list = append(list, children(list[i])...)
	}
	return list
}

// gone waits until no process of a list lives; a zombie lives no more.
func gone(t *testing.T, list []int) {
	t.Helper()
	var left []int
	for range 6000 {
		left = left[:0]
		for _, pid := range list {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err == nil && !strings.Contains(string(stat), ") Z ") {
				left = append(left, pid)
			}
		}
		if len(left) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("processes %v of %v are left", left, list)
}

// Whoever is killed - Python, the first process of the namespace, bwrap - and however
// the session ends, nothing of the sandbox stays.
func TestNoOrphans(t *testing.T) {
	p := openForAttack(t)
	if p == nil {
		return
	}
	for _, c := range []struct {
		name string
		end  func(s *Session, list []int) error
	}{
		{"bwrap is killed", func(_ *Session, list []int) error { return unix.Kill(list[0], unix.SIGKILL) }},
		{"the first process is killed", func(_ *Session, list []int) error { return unix.Kill(list[1], unix.SIGKILL) }},
		{"Python is killed", func(_ *Session, list []int) error { return unix.Kill(list[2], unix.SIGKILL) }},
		{"the session is closed", func(s *Session, _ []int) error { return s.Close() }},
		{"the session is restarted", func(s *Session, _ []int) error { return s.Restart(t.Context()) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := session(t, p.Pool, SessionOptions{})
			run(t, s, spawn)
			list := family(s.engine.(*sandboxed).process)
			if len(list) < 5 {
				t.Fatalf("only %v live", list)
			}
			if err := c.end(s, list); err != nil {
				t.Fatal(err)
			}
			gone(t, list)
		})
	}
}

// A cell that runs when its sandbox is killed ends with a clear state.
func TestNoOrphansWhileACellRuns(t *testing.T) {
	p := openForAttack(t)
	if p == nil {
		return
	}
	for which, name := range []string{"bwrap", "the first process", "Python"} {
		t.Run(name, func(t *testing.T) {
			begun := make(chan struct{})
			s := session(t, p.Pool, SessionOptions{Stubs: []Stub{{Name: "begun"}}, Call: func(context.Context, string, string, json.RawMessage) (json.RawMessage, error) {
				close(begun)
				return json.RawMessage("null"), nil
			}})
			list := family(s.engine.(*sandboxed).process)
			go func() {
				<-begun
				time.Sleep(50 * time.Millisecond) // also the call has ended
				_ = unix.Kill(list[which], unix.SIGKILL)
			}()
			out := run(t, s, spawn+"begun()\ntime.sleep(600)")
			if out.Status != Died || out.Reason == "" {
				t.Errorf("%+v", out)
			}
			gone(t, list)
			if _, err := s.Run(t.Context(), Cell{Code: "1"}); err == nil {
				t.Error("a dead session runs a cell")
			}
		})
	}
}

// The whole program is killed: the kernel takes its sandboxes, those that wait, too.
func TestNoOrphansOfAKilledHarness(t *testing.T) {
	if openForAttack(t) == nil {
		return
	}
	dir := t.TempDir()
	cmd := exec.Command("/proc/self/exe", "-test.run", "^TestHarnessToBeKilled$")
	cmd.Env = append(os.Environ(), "MACARON_TEST_KILLED="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var list []int
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "end" {
		if pid, err := strconv.Atoi(lines.Text()); err == nil {
			list = append(list, pid)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()     // it was killed
	if len(list) < 8 { // five of the session, three of the one that waits
		t.Fatalf("only %v lived", list)
	}
	gone(t, list)
	left, err := filepath.Glob(filepath.Join(dir, ".warm-*"))
	if err != nil || len(left) == 0 {
		t.Fatalf("no warm directory was left to sweep: %v, %v", left, err)
	}
	pool(t, Options{Root: dir})
	if left, err = filepath.Glob(filepath.Join(dir, ".warm-*")); err != nil || len(left) > 0 {
		t.Errorf("not swept: %v, %v", left, err)
	}
}

// TestHarnessToBeKilled is the program that the test above kills; by itself it has
// nothing to do.
func TestHarnessToBeKilled(t *testing.T) {
	dir := os.Getenv("MACARON_TEST_KILLED")
	if dir == "" {
		return
	}
	p, err := Open(t.Context(), Options{Root: dir, PoolSize: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := session(t, p, SessionOptions{})
	run(t, s, spawn)
	for p.Warm() == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	for _, pid := range append(family(s.engine.(*sandboxed).process), family(p.warm[0].engine.(*sandboxed).process)...) {
		fmt.Println(pid)
	}
	fmt.Println("end")
	_, _ = s.Run(t.Context(), Cell{Code: "import time; time.sleep(600)"}) // killed in it
}
