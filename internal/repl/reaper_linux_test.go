package repl

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What was stopped ends nothing, also by who is late to set it.
func TestAStoppedReaperEndsNothing(t *testing.T) {
	ended := make(chan struct{})
	k := newReaper(func() { close(ended) })
	k.stop()
	k.in(0)
	select {
	case <-ended:
		t.Error("it ends the next cell")
	case <-time.After(50 * time.Millisecond):
	}
	k = newReaper(func() { close(ended) })
	k.in(0)
	<-ended
}

// A program that stands still while a cell runs, as on a machine that sleeps, interrupts the cell
// when it goes on, and gives it its grace from there: the namespace is kept.
func TestTheGraceBeginsWithTheInterrupt(t *testing.T) {
	if openForAttack(t) == nil {
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run", "^TestHarnessToBeStopped$")
	cmd.Env = append(os.Environ(), "MACARON_TEST_STOPPED="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var wall time.Duration
	for wall == 0 && lines.Scan() {
		if _, after, ok := strings.Cut(lines.Text(), "it runs, at most "); ok {
			if wall, err = time.ParseDuration(after); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := unix.Kill(cmd.Process.Pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(wall + grace)
	if err := unix.Kill(cmd.Process.Pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if lines.Scan(); lines.Text() != string(Interrupted) {
		t.Errorf("the cell ended as %q", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestHarnessToBeStopped is the program that the test above stops; by itself it has nothing to do.
func TestHarnessToBeStopped(t *testing.T) {
	dir := os.Getenv("MACARON_TEST_STOPPED")
	if dir == "" {
		return
	}
	p, err := Open(t.Context(), Options{Root: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var begun atomic.Bool
	var out Outcome
	for wall := 1000; wall < Default.WallMS && !begun.Load(); wall *= 4 { // a busy machine may use it up before the cell's first line
		s := session(t, p, SessionOptions{Limits: Limits{WallMS: wall}, Stubs: []Stub{{Name: "begun"}}, Call: func(context.Context, string, string, json.RawMessage) (json.RawMessage, error) {
			begun.Store(true)
			fmt.Println("it runs, at most", time.Duration(wall)*time.Millisecond)
			return json.RawMessage("null"), nil
		}})
		out = run(t, s, "begun()\nwhile True: pass")
	}
	fmt.Println(out.Status)
}
