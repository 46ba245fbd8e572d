package repl

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// warmName names the directory of a sandbox that waits; the process id tells sweep whose
// it is.
func warmName() string { return fmt.Sprintf(".warm-%d-%s", os.Getpid(), rand.Text()) }

// sweep removes directories of sandboxes that waited when their process was killed.
func sweep(root string) {
	dirs, _ := filepath.Glob(filepath.Join(root, ".warm-*-*")) // the pattern is a good one
	for _, dir := range dirs {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(dir), ".warm-%d-", &pid); err == nil && !alive(pid) {
			_ = os.RemoveAll(dir) // tried again at the next start
		}
	}
}

// replaceDir moves the files of the directory to into from, and from to the path to.
// Both lie below the same root.
func replaceDir(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	st, err := os.Lstat(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.Rename(from, to)
	case err != nil:
		return err
	case !st.IsDir():
		return fmt.Errorf("%s is no directory", to)
	}
	entries, err := os.ReadDir(to)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Rename(filepath.Join(to, e.Name()), filepath.Join(from, e.Name())); err != nil {
			return err
		}
	}
	if err := os.Remove(to); err != nil { // a directory is not renamed over another
		return err
	}
	return os.Rename(from, to)
}

// artifact is a file of the workspace that takes what a cell wrote beyond its limit.
type artifact struct {
	session *Session
	cell    string
	name    string // in the workspace, once it is made
}

const artifactDir = ".artifacts"

// create makes the file. The workspace is the sandbox's: whatever lies there, no link of
// it leads this process out, and no file that exists is written.
func (a *artifact) create() (io.WriteCloser, error) {
	root, err := os.OpenRoot(a.session.Workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close() // a directory handle
	if err := root.Mkdir(artifactDir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	safe := strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", r) {
			return r
		}
		return '_'
	}, a.cell)
	name := artifactDir + "/" + safe[:min(len(safe), 64)] + "-" + rand.Text()[:8] + ".txt"
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	a.name = name
	return f, a.session.pool.backend.own(f)
}
