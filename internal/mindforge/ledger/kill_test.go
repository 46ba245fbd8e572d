package ledger_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"macaron/internal/clock"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/store/sqlite"
)

// The test binary runs itself as a process that writes to a ledger until it is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("LEDGER_TEST_PATH"); path != "" {
		write(path)
		return
	}
	os.Exit(m.Run())
}

func write(path string) {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, sqlite.Options{Path: path, Durability: sqlite.Normal})
	if err != nil {
		panic(err)
	}
	l := &ledger.Ledger{Store: s, Clock: clock.System{}, Limits: ledger.DefaultLimits}
	for n := 0; ; n++ { // from the start each time: what is there adds nothing
		if _, err := l.Append(ctx, "o", ledger.Draft{Run: "r", Key: fmt.Sprint(n), Body: ledger.Step{Generation: n, Name: strings.Repeat("x", n%200), State: "ended"}}); err != nil {
			panic(err)
		}
		fmt.Println(n)
	}
}

// A process that is killed at any moment leaves every entry that it was told of, whole, and
// the next one goes on as if it had never been.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	told := -1
	for round := range 8 {
		told = max(told, talk(t, self, path, told+1+17*round))
		s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		l := &ledger.Ledger{Store: s, Clock: clock.System{}, Limits: ledger.DefaultLimits}
		all, err := l.All(t.Context(), "o", "r")
		if err != nil || len(all) <= told {
			t.Fatalf("round %d: %d entries, %d were told, %v", round, len(all), told+1, err)
		}
		var c ledger.Chain
		for n, e := range all {
			if err := c.Next(e); err != nil || e.Key != fmt.Sprint(n) {
				t.Fatalf("round %d: %q, %v", round, e.Key, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// talk runs the writer until it has told of an entry, kills it, and gives the last it told of.
func talk(t *testing.T, self, path string, until int) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "LEDGER_TEST_PATH="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last, lines := -1, bufio.NewScanner(out)
	for lines.Scan() {
		if _, err := fmt.Sscan(lines.Text(), &last); err != nil {
			t.Fatal(err)
		}
		if last == until {
			time.AfterFunc(time.Duration(until%7)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		}
	}
	_ = cmd.Wait() // it was killed
	return last
}
