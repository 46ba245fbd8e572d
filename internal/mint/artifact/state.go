package artifact

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/blob"
)

// The directories of a home that hold training state by content: what was imported, and what
// the training service keeps.
const (
	imported = "blobs/states"
	trained  = "mint/blobs"
)

// States opens the training states of a home.
func States(home string) (*blob.Store, error) {
	return blob.Open(filepath.Join(home, filepath.FromSlash(trained)), filepath.Join(home, filepath.FromSlash(imported)))
}

// Renewed tells whether a home has a training state, and keeps it from collection until a
// policy record can name it.
func Renewed(home string) func(ids.Digest) bool {
	return func(d ids.Digest) bool {
		s, err := States(home)
		if err != nil {
			return false
		}
		defer func() { _ = s.Close() }() // directory handles
		return s.Renew(d)
	}
}

// StateOf finds training state of a home by its content.
func StateOf(home, role string, d ids.Digest) (State, error) {
	for _, dir := range []string{imported, trained} {
		path := filepath.Join(home, filepath.FromSlash(dir), d.Hex())
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return State{Role: role, Digest: d, Size: info.Size(), Open: func(context.Context) (io.ReadCloser, error) { return os.Open(path) }}, nil
		}
	}
	return State{}, errs.New(errs.NotFound, "the "+role+" "+d.Short()+" is not in this home", "export without --state, or export where it was trained")
}

// Keep stores training state that came with a bundle in a home, whole and checked, or not at
// all, and gives its path.
func Keep(ctx context.Context, home string, s State) (path string, err error) {
	dir := filepath.Join(home, filepath.FromSlash(imported))
	blobs, err := blob.Open(dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = blobs.Close() }() // a directory handle
	r, err := s.Open(ctx)
	if err != nil {
		return "", err
	}
	defer r.Close() // read-only
	_, _, err = blobs.Put(func(w io.Writer) error {
		_, err := io.Copy(w, r) // fails at the end of other content
		return failed(err, "the training state cannot be kept")
	})
	return filepath.Join(dir, s.Digest.Hex()), err
}
