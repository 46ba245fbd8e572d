package models

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Layout below blobs/: files by content, scratch for what is on its way.
const (
	byHash  = "sha256"
	partial = "partial"
)

// Store is the content-addressed part of a MACARON_HOME. All access goes through an
// os.Root, so that no name can lead out of it. Safe for concurrent use, also by
// several processes.
type Store struct {
	dir  string
	root *os.Root
	free func(dir string) (uint64, error) // bytes that this user can still write
}

// Open opens, and makes if needed, the store of a MACARON_HOME.
func Open(home string) (*Store, error) {
	dir := filepath.Join(home, "blobs")
	for _, d := range []string{byHash, partial} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return nil, disk.Error(err, "the directory "+dir+" cannot be made")
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, disk.Error(err, "the directory "+dir+" cannot be opened")
	}
	return &Store{dir: dir, root: root, free: disk.Free}, nil
}

// Close frees the store's directory handle.
func (s *Store) Close() error { return s.root.Close() }

// Dir is the store's directory.
func (s *Store) Dir() string { return s.dir }

func (s *Store) path(d ids.Digest) string {
	return filepath.Join(s.dir, byHash, d.Hex())
}

// Has gives the path of a stored file after checking that it is whole: by its SHA-256,
// or by the size and time that it had when that was last checked. errs.NotFound
// when it is not stored; errs.ChecksumMismatch when its bytes have changed.
func (s *Store) Has(d ids.Digest) (string, error) {
	if _, err := ids.ParseDigest(string(d)); err != nil {
		return "", err
	}
	name := path.Join(byHash, d.Hex())
	info, err := s.root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errs.New(errs.NotFound, "the file "+d.Short()+" is not in the store", "fetch it with macaron model pull")
	}
	if err != nil {
		return "", disk.Error(err, "the store cannot be read")
	}
	if stamp, err := s.root.ReadFile(name + ".checked"); err == nil && string(stamp) == stampOf(info) {
		return s.path(d), nil
	}
	f, err := s.root.Open(name)
	if err != nil {
		return "", disk.Error(err, "the stored file "+d.Short()+" cannot be opened")
	}
	defer f.Close() // read-only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", disk.Error(err, "the stored file "+d.Short()+" cannot be read")
	}
	if got := sum(h); got != d {
		return "", errs.New(errs.ChecksumMismatch, fmt.Sprintf("the stored file %s has changed: its SHA-256 is now %s", s.path(d), got.Short()),
			"remove that file and fetch it again with macaron model pull")
	}
	s.stamp(name, info)
	return s.path(d), nil
}

// stamp notes that a file was checked. Without the note it is checked again next
// time, so a failure to write it is none.
func (s *Store) stamp(name string, info fs.FileInfo) {
	_ = s.root.WriteFile(name+".checked", []byte(stampOf(info)), 0o600)
}

func stampOf(info fs.FileInfo) string {
	return fmt.Sprintf("%d %d\n", info.Size(), info.ModTime().UnixNano())
}

// adopt gives a complete, checked scratch file its place under its content.
func (s *Store) adopt(f *os.File, scratch string, d ids.Digest) (string, error) {
	if err := f.Sync(); err != nil {
		return "", disk.Error(err, "the file cannot be written to disk")
	}
	name := path.Join(byHash, d.Hex())
	if err := s.root.Rename(scratch, name); err != nil {
		return "", disk.Error(err, "the file cannot be put in its place")
	}
	// Only now: somebody who waits for the scratch file must be able to open it.
	if err := f.Chmod(0o400); err != nil {
		return "", disk.Error(err, "the file cannot be protected against writing")
	}
	if err := s.syncDir(byHash); err != nil {
		return "", disk.Error(err, "the store's directory cannot be written to disk")
	}
	if info, err := s.root.Stat(name); err == nil {
		s.stamp(name, info)
	}
	return s.path(d), nil
}

func (s *Store) syncDir(name string) error {
	d, err := s.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// room refuses a transfer that the disk cannot take; an unknown size (0) or an
// unknown amount of free space passes.
func (s *Store) room(need int64) error {
	left, err := s.free(s.dir)
	if err != nil || need <= 0 || uint64(need) < left {
		return nil
	}
	return disk.Full(fmt.Sprintf("%s are needed in %s and %s are free", Size(need), s.dir, Size(int64(left))))
}

// sum gives the digest that a hash has come to.
func sum(h interface{ Sum([]byte) []byte }) ids.Digest {
	return ids.Digest("sha256:" + hex.EncodeToString(h.Sum(nil)))
}

// Size prints bytes for people, in decimal units.
func Size(n int64) string {
	const units = "kMGTP"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	x, i := float64(n)/1000, 0
	for x >= 999.95 && i < len(units)-1 {
		x, i = x/1000, i+1
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0") + " " + units[i:i+1] + "B"
}
