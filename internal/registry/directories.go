package registry

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io/fs"
	"path"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Directories are the revisions that a home holds as directories, those of its contracts
// among them. It is safe for concurrent use.
type Directories struct{ store *store }

// OpenDirectories opens those of a home.
func OpenDirectories(home string) (*Directories, error) {
	s, err := openStore(home)
	if err != nil {
		return nil, err
	}
	return &Directories{s}, nil
}

// Close frees the handle.
func (d *Directories) Close() error {
	return disk.Error(d.store.root.Close(), "the adapter store cannot be closed")
}

// Dir is the directory of a revision; one that is not there is AdapterNotFound.
func (d *Directories) Dir(h ids.Digest) (string, error) { return d.store.dirOf(h) }

// Put stores a revision's two files, of which the caller knows that they are h, unless
// they are stored already.
func (d *Directories) Put(h ids.Digest, config, tensors []byte) error {
	if _, err := d.store.dirOf(h); errs.CodeOf(err) != errs.AdapterNotFound {
		return err
	}
	return d.store.enter(h, func(scratch string) error {
		for i, b := range [][]byte{config, tensors} {
			if err := d.store.create(path.Join(scratch, files[i]), bytes.NewReader(b)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Remove takes a revision's directory away unless keep, asked when nobody can open it any
// more, says that it is wanted after all. One that is not there is no error.
func (d *Directories) Remove(h ids.Digest, keep func() (bool, error)) error {
	if _, err := ids.ParseDigest(string(h)); err != nil {
		return err
	}
	name, gone := path.Join(revisions, h.Hex()), path.Join(revisions, "old-"+rand.Text())
	err := d.store.root.Rename(name, gone)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return disk.Error(err, "the revision cannot be removed")
	}
	wanted, err := keep()
	if wanted || err != nil {
		return errors.Join(err, disk.Error(d.store.root.Rename(gone, name), "the revision cannot be put back"))
	}
	return disk.Error(d.store.root.RemoveAll(gone), "the revision cannot be removed")
}
