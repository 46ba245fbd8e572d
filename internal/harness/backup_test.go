package harness

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"macaron/internal/archive"
	"macaron/internal/record"
	"macaron/internal/store/sqlite"
)

// A home that is saved while a run waits for a person and another one has ended comes back
// with both: one can be read with its files, the other goes on where it was.
func TestRunsAreSavedAndComeBack(t *testing.T) {
	dir := t.TempDir()
	agent := "mode = \"functions\"\n[policies]\napprove = [\"write\"]\n"
	wrote := 0
	write := number("write", "write", func(n int) (any, error) { wrote++; return n, nil })
	r := setup(t, dir, agent, script("write {\"n\":3}", "second"), false, write)
	files := map[string][]byte{"a.txt": []byte("kept"), "deep/b.txt": []byte("too")}
	ended, err := r.Run(ctx, "o", Task{Instruction: "do it", Files: files}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Approve(ctx, "o", ended.RunID, ended.Call, true, ""); err != nil {
		t.Fatal(err)
	}
	if ended, err = r.Resume(ctx, "o", ended.RunID, Decision{}, Options{}); err != nil || ended.Status != record.RunDone {
		t.Fatal(ended, err)
	}
	waits, err := r.Run(ctx, "o", Task{Instruction: "do more", Files: files}, Options{})
	if err != nil || waits.Status != record.RunWaiting || waits.Call == "" {
		t.Fatal(waits, err)
	}
	file, to := filepath.Join(t.TempDir(), "saved"), filepath.Join(t.TempDir(), "home")
	log := filepath.Join(dir, "log.db")
	if _, err := archive.Backup(ctx, dir, file, archive.Options{Snapshot: func(ctx context.Context, to string) error { return sqlite.Snapshot(ctx, log, to) }}); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Restore(ctx, file, to); err != nil {
		t.Fatal(err)
	}
	back := setup(t, to, agent, script("write {\"n\":3}", "second"), false, write)
	run, err := back.Transcript(ctx, "o", ended.RunID)
	if err != nil || run.Closed.Answer != "second" {
		t.Fatal(err)
	}
	for _, f := range run.Files() {
		if b, err := os.ReadFile(filepath.Join(back.Home, "files", f.Digest.Hex()[:2], f.Digest.Hex()[2:])); err != nil || string(b) != string(files[f.Path]) {
			t.Errorf("%s: %q %v", f.Path, b, err)
		}
	}
	if err := back.Approve(ctx, "o", waits.RunID, waits.Call, true, ""); err != nil {
		t.Fatal(err)
	}
	got, err := back.Resume(ctx, "o", waits.RunID, Decision{}, Options{})
	if err != nil || got.Status != record.RunDone || got.Answer != "second" || wrote != 2 {
		t.Errorf("%+v %v, %d writes", got, err, wrote)
	}
	for name, want := range files {
		if b, err := os.ReadFile(filepath.Join(back.workspace(waits.RunID), filepath.FromSlash(name))); err != nil || string(b) != string(want) {
			t.Errorf("%s: %q %v", name, b, err)
		}
	}
}
