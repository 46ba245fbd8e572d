package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"macaron/internal/record"
	"macaron/internal/store/sqlite"
)

// collectEnv has this binary collect in a directory, for a test that kills it.
const collectEnv = "MACARON_TEST_COLLECT"

func collectChild(dir string) {
	log, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "log.db"), Durability: sqlite.Normal})
	must(err)
	n, err := Collect(ctx, log, filepath.Join(dir, "runs"), time.Now().Add(time.Hour))
	must(err)
	fmt.Println(n)
	must(log.Close())
}

// leftovers counts the workspaces and contents below a home of runs.
func leftovers(t *testing.T, home string) int {
	t.Helper()
	n := 0
	for _, pattern := range []string{"run_*", "files/??/*"} {
		list, err := filepath.Glob(filepath.Join(home, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		n += len(list)
	}
	return n
}

// A collection that is killed anywhere loses nothing that a run of the log has, and the next
// one finds the rest.
func TestCollectIsKilled(t *testing.T) {
	dir := t.TempDir()
	r := setup(t, dir, "", script("x"), false)
	kept := map[string]string{}
	for i := range 3 {
		text := strings.Repeat(fmt.Sprint("kept ", i), 100)
		got, err := r.Run(ctx, "o", Task{Instruction: "do it", Files: map[string][]byte{"a.txt": []byte(text)}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		kept[got.RunID] = text
	}
	whole := leftovers(t, r.Home)
	killed := 0
	for round := 0; round < 50 && killed == 0; round++ { // a collection may be faster than who is to kill it
		leave(t, r.Home)
		for n := leftovers(t, r.Home); n > whole; n = leftovers(t, r.Home) {
			if collectAndKill(t, dir, r.Home, n, killed < 5) {
				killed++
			}
			check(t, r, kept)
		}
	}
	if killed == 0 {
		t.Error("no collection was killed while it deleted")
	}
}

// leave makes workspaces of runs that no log has.
func leave(t *testing.T, home string) {
	t.Helper()
	for i := range 200 {
		place := filepath.Join(home, fmt.Sprintf("run_01JZZZZZZZZZZZZZZZZZZZ%04d", i), "work", "deep")
		if err := os.MkdirAll(place, 0o700); err != nil {
			t.Fatal(err)
		}
		for j := range 5 {
			if err := os.WriteFile(filepath.Join(place, fmt.Sprint(j)), []byte("left"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// collectAndKill kills a collection once something is gone, unless it was faster or is to end.
func collectAndKill(t *testing.T, dir, home string, before int, kill bool) bool {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), os.Args[0])
	cmd.Env = append(os.Environ(), collectEnv+"="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			return false
		case <-time.After(time.Millisecond):
		}
		if kill && leftovers(t, home) < before {
			_ = cmd.Process.Kill() // ended is as good
			<-ended
			st, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
			return ok && st.Signal() == syscall.SIGKILL
		}
	}
}

// check reads every run back with what it has kept.
func check(t *testing.T, r *rig, kept map[string]string) {
	t.Helper()
	for id, text := range kept {
		run, err := r.Transcript(ctx, "o", id)
		if err != nil || run.Closed == nil || run.Closed.Status != record.RunDone {
			t.Fatalf("%s: %v", id, err)
		}
		for _, f := range run.Files() {
			b, err := os.ReadFile(filepath.Join(r.Home, "files", f.Digest.Hex()[:2], f.Digest.Hex()[2:]))
			if err != nil || string(b) != text {
				t.Errorf("%s of %s: %d bytes, %v", f.Path, id, len(b), err)
			}
		}
		if b, err := os.ReadFile(filepath.Join(r.workspace(id), "a.txt")); err != nil || string(b) != text {
			t.Errorf("the workspace of %s: %v", id, err)
		}
	}
}
