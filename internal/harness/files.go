package harness

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// files keeps contents by their hash: those of tasks, snapshots and outputs.
type files struct{ dir string }

func (f files) path(d ids.Digest) string { return filepath.Join(f.dir, d.Hex()[:2], d.Hex()[2:]) }

// put keeps a content and names it.
func (f files) put(content []byte) (ids.Digest, error) {
	d := ids.DigestOf(content)
	path := f.path(d)
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(content)) {
		now := time.Now()
		if err := os.Chtimes(path, now, now); err == nil { // Collect spares it
			return d, nil
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", disk.Error(err, path+" cannot be made")
	}
	return d, disk.Replace(path, content, 0o600)
}

// get gives a content that was kept, after looking that it is the one.
func (f files) get(d ids.Digest) ([]byte, error) {
	if _, err := ids.ParseDigest(string(d)); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(f.path(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errs.New(errs.NotFound, "the file "+d.Short()+" is not kept here", "it lies in the home that the run was made in")
	}
	if err != nil {
		return nil, disk.Error(err, f.path(d)+" cannot be read")
	}
	if ids.DigestOf(b) != d {
		return nil, errs.New(errs.ChecksumMismatch, "the kept file "+d.Short()+" has been changed", "restore it from a backup")
	}
	return b, nil
}

// slurp reads a file of a workspace, which may be hostile, of at most n bytes.
func slurp(root *os.Root, name string, n int64) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe that came into its place is not waited for
	if err != nil {
		return nil, err
	}
	defer f.Close() // read-only
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	b, err := io.ReadAll(io.LimitReader(f, n+1))
	if err == nil && int64(len(b)) > n {
		err = errs.New(errs.TooLarge, "the file "+errs.Clip(name)+" is larger than the workspace may be", "raise workspace.max_bytes")
	}
	return b, err
}

// Remove deletes the directory of a run that no record tells of. Kept contents are shared
// by runs; Collect finds those that none has.
func (h *Harness) Remove(id string) error {
	if err := ids.Check(ids.Run, id); err != nil {
		return err
	}
	return errs.Wrap(errs.StorageFailed, os.RemoveAll(filepath.Join(h.Home, id)), "the files of "+id+" cannot be removed", "")
}
