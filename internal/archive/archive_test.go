package archive

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"

	"macaron/internal/errs"
)

// home is a small home, with things of the moment in it.
func home(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	tree := fstest.MapFS{}
	for name, text := range map[string]string{
		"config.toml": "x", "log.db": "live", "log.db-wal": "w", "lock": "1\n", "blobs/models.json": "{}", "blobs/sha256/ab": "model", "blobs/partial/p": "p", "cache/packed/x.packed": "made again",
		"blobs/contracts/c.toml": "c", "blobs/revisions/r/adapter_model.safetensors": "weights", ".ready-1": "",
	} {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	if err := os.CopyFS(dir, tree); err != nil {
		t.Fatal(err)
	}
	return dir
}

func snapshot(_ context.Context, to string) error { return os.WriteFile(to, []byte("copy"), 0o600) }

func TestWhatIsSavedComesBack(t *testing.T) {
	from, to := home(t), filepath.Join(t.TempDir(), "new")
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	if _, err := Backup(t.Context(), from, file, Options{Version: "v", Snapshot: snapshot}); err != nil {
		t.Fatal(err)
	}
	m, err := Restore(t.Context(), file, to)
	if err != nil || m.Version != "v" {
		t.Fatal(m, err)
	}
	for name, want := range map[string]string{"config.toml": "x", "log.db": "copy", "blobs/models.json": "{}", "blobs/contracts/c.toml": "c", "blobs/revisions/r/adapter_model.safetensors": "weights"} {
		if b, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q %v", name, b, err)
		}
	}
	if len(m.Files) != 5 {
		t.Errorf("files %+v", m.Files)
	}
	if _, err := Restore(t.Context(), file, to); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("a home was overwritten: %v", err)
	}
	if _, err := Backup(t.Context(), from, file, Options{}); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("a backup was overwritten: %v", err)
	}
}

// Workspaces of runs are code's: they change while they are saved, and nothing in them leads
// the backup elsewhere.
func TestWorkspacesAreSavedAsTheyAre(t *testing.T) {
	from, to := home(t), filepath.Join(t.TempDir(), "new")
	run := "runs/run_01JZZZZZZZZZZZZZZZZZZZZZZZ/work"
	for name, text := range map[string]string{run + "/a.txt": "a", run + "/deep/b.txt": "b", "runs/files/ab/cd": "kept", "secret": "of the home"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(from, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"link": "/etc/hostname", "inside": "../../../secret", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(from, run, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(from, run, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Another process writes and deletes without end.
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			busy := filepath.Join(from, run, "busy")
			_ = os.WriteFile(busy, bytes.Repeat([]byte("x"), n%100_000), 0o600) // whatever comes of it
			_ = os.Remove(busy)
			_ = os.Symlink(filepath.Join(from, "secret"), busy)
			_ = os.Remove(busy)
		}
	}()
	for n := range 20 {
		file := filepath.Join(t.TempDir(), fmt.Sprint(n))
		if _, err := Backup(t.Context(), from, file, Options{Snapshot: snapshot}); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(t.Context(), file, to); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{run + "/a.txt": "a", run + "/deep/b.txt": "b", "runs/files/ab/cd": "kept"} {
			if b, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(b) != want {
				t.Errorf("%s: %q %v", name, b, err)
			}
		}
		for _, name := range []string{"link", "inside", "loop", "pipe"} {
			if _, err := os.Lstat(filepath.Join(to, run, name)); !os.IsNotExist(err) {
				t.Errorf("%s was saved: %v", name, err)
			}
		}
		if b, err := os.ReadFile(filepath.Join(to, run, "busy")); err == nil && bytes.Contains(b, []byte("home")) {
			t.Errorf("a link was followed: %q", b)
		}
	}
	close(stop)
	<-stopped
}

// Whatever byte of an archive is wrong, and wherever it is cut, no home comes of it.
func TestDamagedArchivesAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	if _, err := Backup(t.Context(), home(t), file, Options{Snapshot: snapshot}); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	try := func(what string, at int, b []byte) {
		bad, to := filepath.Join(dir, "bad"), filepath.Join(dir, "new")
		if err := os.WriteFile(bad, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Restore(t.Context(), bad, to)
		_, there := os.Stat(to)
		if err == nil && !bytes.Equal(b, good) || there == nil {
			t.Errorf("%s at %d was taken: %v", what, at, err)
		}
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
	}
	for at := 10; at < len(good)-64; at += 7 { // behind the header of gzip, which says nothing
		b := bytes.Clone(good)
		b[at] ^= 0x55
		try("damage", at, b)
		try("cut", at, good[:at])
	}
}

func FuzzExtract(f *testing.F) {
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		_, err := extract(t.Context(), bytes.NewReader(b), dir)
		if err != nil && errs.CodeOf(err) == errs.Internal {
			t.Fatal(err)
		}
	})
}
