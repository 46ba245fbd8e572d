package contract

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"macaron/internal/disk"
	"macaron/internal/ids"
)

// The bounds of what a contract may be made of.
const (
	MaxImports = 8       // how deep files import each other
	MaxFiles   = 64      // files in all
	MaxTotal   = 8 << 20 // their bytes
)

// Source is a contract with the files that it was made of.
type Source struct {
	Contract *Contract
	Files    []File   // the first is the contract's own
	Overlays []string // names of those that it offers, sorted
	Applied  []string // those that were laid over it, in order

	tree  *node
	plain ids.Digest // of the contract without overlays
}

// File is one file of a contract.
type File struct {
	Path string // with slashes, relative to the directory of the contract's own file
	Text []byte
}

// Load reads and parses a contract file with all that it imports.
func Load(name string, overlays ...string) (*Contract, error) {
	s, err := Open(name, overlays...)
	if err != nil {
		return nil, err
	}
	return s.Contract, nil
}

// Open reads a contract file, what it imports and names, and lays overlays over it. No
// path leads out of the file's directory, through symbolic links neither.
func Open(name string, overlays ...string) (*Source, error) {
	text, err := Read(name)
	if err != nil {
		return nil, err
	}
	return ParseFile(name, text, overlays...)
}

// Read gives the text of a contract file, of at most one byte more than Parse takes.
func Read(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, disk.OpenError(err, "the contract "+name+" cannot be opened", "start macaron where a macaron.toml is, or name one with --contract")
	}
	defer f.Close() // read-only
	text, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	return text, disk.Error(err, "the contract "+name+" cannot be read")
}

// ParseFile is Open of a file whose text has been read already.
func ParseFile(name string, text []byte, overlays ...string) (*Source, error) {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, disk.OpenError(err, "the directory of "+name+" cannot be opened", "check its permissions")
	}
	defer root.Close() // read-only
	r := &reader{open: fromRoot(root), dir: filepath.Dir(name)}
	return r.contract(filepath.Base(name), text, overlays)
}

// ParseFiles is Open of files in memory; root is the path of the contract's own.
func ParseFiles(root string, files map[string][]byte, overlays ...string) (*Source, error) {
	r := &reader{open: func(name string) ([]byte, error) {
		text, ok := files[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return text, nil
	}}
	return r.contract(root, files[root], overlays)
}

// fromRoot reads plain files below a directory, of at most one byte more than Parse takes.
func fromRoot(root *os.Root) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		f, err := root.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close() // read-only
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			return nil, errors.Join(err, errors.New("no regular file"))
		}
		return io.ReadAll(io.LimitReader(f, MaxBytes+1))
	}
}

// finish decodes the tree, fills in what is left out, checks what no single value shows
// and names the contract.
func (s *Source) finish() error {
	c, err := s.tree.decode()
	if err != nil {
		return err
	}
	c.fill()
	if err := c.validate(); err != nil {
		return s.tree.locate(err)
	}
	s.Contract, c.said = c, s.Files[0].Text
	return c.seal()
}

// Part is a file of a contract by its content.
type Part struct {
	Path   string     `json:"path"`
	Digest ids.Digest `json:"digest"`
	Bytes  int        `json:"bytes"`
}

// Parts lists the files by content, in the order of Files.
func (s *Source) Parts() []Part {
	out := make([]Part, len(s.Files))
	for i, f := range s.Files {
		out[i] = Part{f.Path, ids.DigestOf(f.Text), len(f.Text)}
	}
	return out
}

// Alone reports whether the first file's text is the whole contract, whichever build reads
// it: nothing is imported, laid over, or taken from what this build knows of cards.
func (s *Source) Alone() bool {
	return len(s.Files)+len(s.Applied) == 1 && !bytes.Contains(s.Files[0].Text, []byte(cards))
}

// Plain is the hash of the contract without overlays.
func (s *Source) Plain() ids.Digest { return s.plain }
