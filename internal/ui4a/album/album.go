// Package album keeps the pictures that a tenant has put by for its cards, which show
// one as <img src="asset:NAME">. They lie in the home, a directory for each tenant. What is
// no picture, too large, or decodes to too much is refused when it comes (docs/formats/ui4a-chat.md).
// Homes may have one directory in common: each picture is put in its place whole.
package album

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // a kind that is taken
	_ "image/jpeg" // a kind that is taken
	_ "image/png"  // a kind that is taken
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// The bounds.
const (
	MaxBytes    = 1 << 20          // of one picture
	MaxPixels   = 24_000_000       // that one decodes to
	MaxPictures = 64               // of a tenant
	maxName     = 64               // bytes
	ownName     = "picture-"       // begins the names of those that came with a conversation
	directory   = "pictures"       // in the home
	nameLetters = "._-"            // besides ASCII letters and digits
	kinds       = "PNG, JPEG, GIF" // as people say them
)

// Picture is one that is kept.
type Picture struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Store is the pictures of all tenants of a home.
type Store struct {
	dir string
	mu  sync.Mutex // over counts of a tenant's pictures
}

// New gives the store of a home; nothing is made until something is put.
func New(home string) *Store { return &Store{dir: filepath.Join(home, directory)} }

// of is a tenant's directory: no name of a tenant becomes a path.
func (s *Store) of(owner string) string {
	_, sum, _ := strings.Cut(string(ids.DigestOf([]byte(owner))), ":")
	return filepath.Join(s.dir, sum)
}

// CheckName refuses what cannot name a picture that is put.
func CheckName(name string) error {
	bad := strings.IndexFunc(name, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(nameLetters, c))
	})
	if name == "" || len(name) > maxName || bad >= 0 || strings.ContainsRune(nameLetters, rune(name[0])) || strings.HasPrefix(name, ownName) {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("%.80q is no name of a picture", name),
			"use a letter or digit and then up to 63 of A-Z a-z 0-9 . _ -; names that begin with "+ownName+" are those of pictures that came with a conversation").In("name")
	}
	return nil
}

// Kind is the media type of a picture that may be shown.
func Kind(data []byte) (string, error) {
	if len(data) > MaxBytes {
		return "", errs.New(errs.TooLarge, fmt.Sprintf("the picture has more than %d bytes", MaxBytes), "make it smaller")
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil:
		return "", errs.New(errs.InvalidRequest, "these bytes are no picture", "send a picture as "+kinds)
	case c.Width < 1 || c.Height < 1 || c.Width > MaxPixels/c.Height:
		return "", errs.New(errs.TooLarge, fmt.Sprintf("the picture has %d by %d pixels, more than %d", c.Width, c.Height, MaxPixels), "make it smaller")
	}
	return "image/" + format, nil
}

// Put keeps a picture, in the place of one of that name.
func (s *Store) Put(owner, name string, data []byte) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if _, err := Kind(data); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.List(owner)
	if err != nil {
		return err
	}
	n := len(all)
	for _, p := range all {
		if p.Name == name {
			n--
		}
	}
	if n >= MaxPictures {
		return errs.New(errs.TooLarge, fmt.Sprintf("there are %d pictures, the most that there may be", MaxPictures), "delete one first")
	}
	if err := os.MkdirAll(s.of(owner), 0o700); err != nil {
		return disk.Error(err, "the directory of pictures cannot be made")
	}
	return disk.Replace(filepath.Join(s.of(owner), name), data, 0o600)
}

// List gives a tenant's pictures by name.
func (s *Store) List(owner string) ([]Picture, error) {
	out := []Picture{}
	list, err := os.ReadDir(s.of(owner))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, disk.Error(err, "the pictures cannot be listed")
	}
	for _, e := range list {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && CheckName(e.Name()) == nil {
			out = append(out, Picture{e.Name(), info.Size()})
		}
	}
	return out, nil
}

func none() error {
	return errs.New(errs.NotFound, "there is no such picture in this server's home", "GET /v1/pictures lists those that there are; servers on one Postgres share pictures only if their homes have one directory pictures/")
}

// Read gives the bytes of a tenant's picture.
func (s *Store) Read(owner, name string) ([]byte, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(s.of(owner))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, none()
	}
	if err != nil {
		return nil, disk.Error(err, "the pictures cannot be read")
	}
	defer root.Close() // read-only
	data, err := root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, none()
	}
	return data, disk.Error(err, "the picture cannot be read")
}

// Delete removes a picture.
func (s *Store) Delete(owner, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(s.of(owner), name))
	if errors.Is(err, fs.ErrNotExist) {
		return none()
	}
	return disk.Error(err, "the picture cannot be deleted")
}

// Clear removes all of a tenant's.
func (s *Store) Clear(owner string) error {
	return disk.Error(os.RemoveAll(s.of(owner)), "the pictures cannot be deleted")
}
