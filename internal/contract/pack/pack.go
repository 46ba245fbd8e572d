// Package pack puts a contract with its files and its signature into one file and takes it
// out again. The file is an uncompressed tar whose bytes depend on its content alone; what
// comes from outside is read as hostile.
package pack

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"macaron/internal/canonical"
	"macaron/internal/contract"
	"macaron/internal/contract/sign"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Format names the form of a pack.
const Format = "macaron.hcp.pack/1"

// The entries of a pack: the manifest first, the files by path, the signature last.
const (
	manifestName  = "hcp.json"
	filesDir      = "files/"
	signatureName = "hcp.sig"
)

// MaxBytes bounds a pack.
const MaxBytes = contract.MaxTotal + sign.MaxBytes + (contract.MaxFiles+8)*4096

// Manifest says what a pack holds.
type Manifest struct {
	Format   string          `json:"format"`
	Contract ids.Digest      `json:"contract"` // without overlays
	Name     string          `json:"name"`
	Version  string          `json:"version"`
	Root     string          `json:"root"`  // path of the contract's own file
	Files    []contract.Part `json:"files"` // all, by path
}

// Pack gives the bytes of a pack; signature may be nil.
func Pack(s *contract.Source, signature []byte) ([]byte, error) {
	parts := s.Parts()
	m := Manifest{Format: Format, Contract: s.Plain(), Name: s.Contract.Name, Version: s.Contract.Version, Root: s.Files[0].Path, Files: parts}
	slices.SortFunc(m.Files, func(a, b contract.Part) int { return strings.Compare(a.Path, b.Path) })
	head, err := canonical.Bytes(m)
	if err != nil {
		return nil, err
	}
	files := slices.Clone(s.Files)
	slices.SortFunc(files, func(a, b contract.File) int { return strings.Compare(a.Path, b.Path) })
	var out bytes.Buffer
	t := tar.NewWriter(&out)
	err = add(t, manifestName, head)
	for _, f := range files {
		err = errors.Join(err, add(t, filesDir+f.Path, f.Text))
	}
	if signature != nil {
		err = errors.Join(err, add(t, signatureName, signature))
	}
	err = errors.Join(err, t.Close()) // writes the end
	return out.Bytes(), errs.Wrap(errs.Internal, err, "the pack cannot be made", "")
}

// add writes an entry that tells nothing of the machine and the time.
func add(t *tar.Writer, name string, text []byte) error {
	err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)), Mode: 0o644, ModTime: time.Unix(0, 0), Format: tar.FormatPAX})
	if err != nil {
		return err
	}
	_, err = t.Write(text)
	return err
}

// Content is what a pack held.
type Content struct {
	Manifest
	Texts     map[string][]byte // by path
	Signature []byte            // nil without one
}

// Read takes a pack apart, without writing anything. Entries that the manifest does not
// list, that are no plain files, or whose bytes are others, are refused.
func Read(in io.Reader) (*Content, error) {
	limited := &io.LimitedReader{R: in, N: MaxBytes + 1}
	t := tar.NewReader(limited)
	head, err := next(t, manifestName, contract.MaxBytes)
	if err != nil {
		return nil, err
	}
	c := &Content{Texts: map[string][]byte{}}
	if err := c.manifest(head); err != nil {
		return nil, err
	}
	for _, p := range c.Files {
		text, err := next(t, filesDir+p.Path, p.Bytes)
		if err != nil {
			return nil, err
		}
		if ids.DigestOf(text) != p.Digest {
			return nil, errs.New(errs.ChecksumMismatch, p.Path+" is not the file that the pack names", "get the pack again")
		}
		c.Texts[p.Path] = text
	}
	if c.Signature, err = next(t, signatureName, sign.MaxBytes); errors.Is(err, io.EOF) {
		c.Signature, err = nil, nil
	} else if err == nil {
		_, err = t.Next()
		if err == nil {
			err = malformed("it has an entry too many", nil)
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err == nil && limited.N == 0 {
		err = errs.Newf(errs.TooLarge, "the pack is larger than %d bytes", MaxBytes)
	}
	return c, err
}

// next reads the next entry, which must be a plain file of that name and at most that long.
func next(t *tar.Reader, name string, most int) ([]byte, error) {
	h, err := t.Next()
	if err != nil {
		return nil, malformed("it ends before "+name, err)
	}
	if h.Typeflag != tar.TypeReg || h.Name != name || h.Size < 0 || h.Size > int64(most) {
		return nil, malformed(fmt.Sprintf("it has %.80q (type %q, %d bytes) where %s belongs", h.Name, h.Typeflag, h.Size, name), nil)
	}
	text, err := io.ReadAll(io.LimitReader(t, int64(most)+1))
	if err != nil || int64(len(text)) != h.Size {
		return nil, malformed(name+" is cut short", err)
	}
	return text, nil
}

func (c *Content) manifest(text []byte) error {
	if _, err := canonical.JSON(text); err != nil {
		return malformed("its manifest is not JSON", err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c.Manifest); err != nil {
		return malformed("its manifest is not one", err)
	}
	if c.Format != Format {
		return malformed(fmt.Sprintf("its format is %.80q; this build reads %s", c.Format, Format), nil)
	}
	if len(c.Files) == 0 || len(c.Files) > contract.MaxFiles {
		return malformed(fmt.Sprintf("it lists %d files", len(c.Files)), nil)
	}
	total, root := 0, false
	for i, p := range c.Files {
		if !fs.ValidPath(p.Path) || p.Path == "." || strings.ContainsAny(p.Path, "\\\x00") || p.Bytes < 0 || p.Bytes > contract.MaxBytes || i > 0 && c.Files[i-1].Path >= p.Path {
			return malformed(fmt.Sprintf("it lists %.80q", p.Path), nil)
		}
		total, root = total+p.Bytes, root || p.Path == c.Root
	}
	if total > contract.MaxTotal || !root || strings.Contains(c.Root, "/") {
		return malformed(fmt.Sprintf("%d bytes, root %.80q", total, c.Root), nil)
	}
	return nil
}

func malformed(why string, err error) error {
	return &errs.Error{Code: errs.FormatInvalid, Message: "the file is no pack of a contract: " + why, Next: "make one with macaron hcp pack", Err: err}
}

// Source reads the packed contract and checks that it is the one that the pack names.
func (c *Content) Source() (*contract.Source, error) {
	s, err := contract.ParseFiles(c.Root, c.Texts)
	if err != nil {
		return nil, err
	}
	if s.Plain() != c.Contract || len(s.Files) != len(c.Files) {
		return nil, errs.New(errs.ChecksumMismatch, fmt.Sprintf("%d of %d files make %s, and the pack names %s", len(s.Files), len(c.Files), s.Plain().Short(), c.Contract.Short()), "get the pack again")
	}
	return s, nil
}

// Write writes a pack's files into a directory, which must not exist or be empty, and gives
// the path of the contract's own. Source should have been asked first. The directory is
// made beside its place and then moved there: it is whole or it is not there.
func (c *Content) Write(dir string) (string, error) {
	if there, err := os.ReadDir(dir); err == nil && len(there) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", errs.Wrap(errs.InvalidRequest, errors.Join(err, fmt.Errorf("%d entries", len(there))), dir+" is not an empty directory", "name a new one with -o")
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", disk.Error(err, parent+" cannot be made")
	}
	staged, err := os.MkdirTemp(parent, "."+filepath.Base(dir)+"-")
	if err != nil {
		return "", disk.Error(err, dir+" cannot be made")
	}
	if err := c.stage(staged); err != nil {
		return "", errors.Join(err, os.RemoveAll(staged))
	}
	err = errors.Join(os.Chmod(staged, 0o755), os.Remove(dir)) // an empty one gives way
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.Rename(staged, dir)
	}
	if err != nil {
		return "", errors.Join(disk.Error(err, dir+" cannot be made"), os.RemoveAll(staged))
	}
	return filepath.Join(dir, c.Root), disk.Error(disk.SyncDir(parent), dir+" cannot be made")
}

// stage writes the files into an empty directory.
func (c *Content) stage(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return disk.Error(err, dir+" cannot be opened")
	}
	defer root.Close() // everything was written and closed before
	for p, text := range c.Texts {
		if err := put(root, p, text); err != nil {
			return disk.Error(err, filepath.FromSlash(p)+" cannot be written")
		}
	}
	if c.Signature == nil {
		return nil
	}
	return disk.Error(put(root, c.Root+sign.Suffix, c.Signature), "the signature cannot be written")
}

func put(root *os.Root, name string, text []byte) error {
	if d := path.Dir(name); d != "." {
		if err := root.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}
