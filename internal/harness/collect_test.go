package harness

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"macaron/internal/record"
)

// What a deleted run has left on disk goes, and what another one has kept stays, also when
// it has the same content.
func TestDeletedRunsLeaveTheDisk(t *testing.T) {
	r := setup(t, t.TempDir(), "", script("x"), false)
	task := func(files map[string][]byte) string {
		got, err := r.Run(ctx, "o", Task{Instruction: "do it", Files: files}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return got.RunID
	}
	gone := task(map[string][]byte{"a": []byte("both have this"), "b": []byte("one alone has this")})
	stays := task(map[string][]byte{"a": []byte("both have this")})
	s, err := r.log.Run(ctx, "o", gone)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.log.Erase(ctx, "o", s.Session, record.Erase{Why: "asked", Time: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if n, err := Collect(ctx, r.log, r.Home, time.Now()); err != nil || n != 0 {
		t.Errorf("what is new is spared: %d %v", n, err)
	}
	for range 2 { // the second finds nothing
		if _, err := Collect(ctx, r.log, r.Home, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(r.Home + "/files/??/*")
	if err != nil || len(files) != 1 {
		t.Errorf("%q %v", files, err)
	}
	if _, err := os.Stat(r.workspace(stays)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(r.Home, gone)); !os.IsNotExist(err) {
		t.Errorf("the workspace is there: %v", err)
	}
}
