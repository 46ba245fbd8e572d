// Package blob keeps files by their content below a directory: bodies and results of
// operations, snapshots of models, exported adapters. What no row names is collected.
package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Store is a directory of blobs, and others that it also reads and collects. Safe for
// concurrent use, by several processes too.
type Store struct {
	root *os.Root
	also []*os.Root
}

const scratch = ".writing-"

// Open opens the directories and makes those that are not there. New blobs come into the
// first.
func Open(dir string, also ...string) (*Store, error) {
	s := &Store{}
	for _, dir := range append([]string{dir}, also...) {
		err := os.MkdirAll(dir, 0o700)
		var root *os.Root
		if err == nil {
			root, err = os.OpenRoot(dir)
		}
		if err != nil {
			return nil, errors.Join(disk.Error(err, "the directory "+dir+" cannot be opened"), s.Close())
		}
		s.also = append(s.also, root)
	}
	s.root, s.also = s.also[0], s.also[1:]
	return s, nil
}

// all are the directories.
func (s *Store) all() []*os.Root { return append([]*os.Root{s.root}, s.also...) }

// Close frees the directories' handles.
func (s *Store) Close() (err error) {
	for _, root := range s.all() {
		if root != nil {
			err = errors.Join(err, root.Close())
		}
	}
	return err
}

// Put keeps what write writes. It is durable when Put returns.
func (s *Store) Put(write func(io.Writer) error) (d ids.Digest, size int64, err error) {
	f, err := os.CreateTemp(s.root.Name(), scratch)
	if err != nil {
		return "", 0, disk.Error(err, "a blob cannot be written")
	}
	name := filepath.Base(f.Name())
	w := &counter{to: f, sum: sha256.New()}
	err = write(w)
	if err == nil {
		err = disk.Error(f.Sync(), "a blob cannot be written")
	}
	d = ids.Digest("sha256:" + hex.EncodeToString(w.sum.Sum(nil)))
	if err = errors.Join(err, f.Close()); err == nil {
		err = s.adopt(name, d)
	}
	if err != nil {
		_ = s.root.Remove(name) // what made it fail is told
		return "", 0, err
	}
	return d, w.n, nil
}

// adopt gives a file its place. One that is there stays, and is as new as this one.
func (s *Store) adopt(name string, d ids.Digest) error {
	if err := s.root.Rename(name, d.Hex()); err != nil {
		return disk.Error(err, "a blob cannot be put in its place")
	}
	dir, err := s.root.Open(".")
	if err != nil {
		return disk.Error(err, "a blob cannot be put in its place")
	}
	return disk.Error(errors.Join(dir.Sync(), dir.Close()), "a blob cannot be put in its place")
}

// PutBytes is Put of what is in memory.
func (s *Store) PutBytes(b []byte) (ids.Digest, error) {
	d, _, err := s.Put(func(w io.Writer) error { _, err := w.Write(b); return err })
	return d, err
}

type counter struct {
	to  io.Writer
	sum hash.Hash
	n   int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.sum.Write(b[:n])
	c.n += int64(n)
	return n, disk.Error(err, "a blob cannot be written")
}

// Open gives a blob to read. Its content is compared with its name as it is read: a
// changed one ends with errs.ChecksumMismatch in place of io.EOF.
func (s *Store) Open(d ids.Digest) (io.ReadCloser, error) {
	if _, err := ids.ParseDigest(string(d)); err != nil {
		return nil, err
	}
	var f *os.File
	err := fs.ErrNotExist
	for _, root := range s.all() {
		if errors.Is(err, fs.ErrNotExist) {
			f, err = root.Open(d.Hex())
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errs.Newf(errs.NotFound, "the blob %s is not in %s", d.Short(), s.root.Name())
	}
	if err != nil {
		return nil, disk.Error(err, "the blob "+d.Short()+" cannot be opened")
	}
	return &checked{f: f, want: d, sum: sha256.New()}, nil
}

type checked struct {
	f    *os.File
	want ids.Digest
	sum  hash.Hash
}

func (c *checked) Read(b []byte) (int, error) {
	n, err := c.f.Read(b)
	c.sum.Write(b[:n])
	if err != nil && !errors.Is(err, io.EOF) {
		return n, disk.Error(err, "the blob "+c.want.Short()+" cannot be read")
	}
	if err != nil && hex.EncodeToString(c.sum.Sum(nil)) != c.want.Hex() {
		return n, errs.New(errs.ChecksumMismatch, fmt.Sprintf("the blob %s is not as it was written", c.want.Short()), "restore it from a backup; check the disk")
	}
	return n, err
}

func (c *checked) Close() error { return c.f.Close() }

// Bytes reads a blob of at most so many bytes.
func (s *Store) Bytes(d ids.Digest, most int64) ([]byte, error) {
	r, err := s.Open(d)
	if err != nil {
		return nil, err
	}
	defer r.Close() // read-only
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = errs.Newf(errs.TooLarge, "the blob %s has more than %d bytes", d.Short(), most)
	}
	return b, err
}

// Collect removes what keep does not want, if it was written before a time: what is newer
// may be about to be named. It tells how many bytes that freed.
func (s *Store) Collect(before time.Time, keep func(ids.Digest) bool) (freed int64, err error) {
	for _, root := range s.all() {
		n, err := collect(root, before, keep)
		if freed += n; err != nil {
			return freed, err
		}
	}
	return freed, nil
}

func collect(root *os.Root, before time.Time, keep func(ids.Digest) bool) (freed int64, err error) {
	dir, err := root.Open(".")
	if err != nil {
		return 0, disk.Error(err, "the blobs cannot be listed")
	}
	defer dir.Close() // read-only
	all, err := dir.ReadDir(-1)
	if err != nil {
		return 0, disk.Error(err, "the blobs cannot be listed")
	}
	for _, e := range all {
		info, err := e.Info()
		if err != nil || !info.ModTime().Before(before) { // gone already, or new
			continue
		}
		d, err := ids.ParseDigest("sha256:" + e.Name())
		if err != nil && !strings.HasPrefix(e.Name(), scratch) || err == nil && keep(d) {
			continue
		}
		if err := root.Remove(e.Name()); err != nil {
			return freed, disk.Error(err, "a blob cannot be removed")
		}
		freed += info.Size()
	}
	return freed, nil
}

// Renew tells whether a blob is there, and makes it as new as one that is written now: no
// collection takes it before somebody has had the time to name it.
func (s *Store) Renew(d ids.Digest) bool {
	if _, err := ids.ParseDigest(string(d)); err != nil {
		return false
	}
	for _, root := range s.all() {
		if now := time.Now(); root.Chtimes(d.Hex(), now, now) == nil {
			return true
		}
	}
	return false
}
