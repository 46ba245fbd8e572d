package registry

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"macaron/internal/adapter"
	"macaron/internal/contract"
	"macaron/internal/disk"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Layout below blobs/: a directory for each revision, a text for each contract.
const (
	revisions = "revisions"
	contracts = "contracts"
)

// files are what a revision consists of; nothing else of a directory is kept.
var files = []string{"adapter_config.json", "adapter_model.safetensors"}

// store holds revisions and contracts by content. Names are made from digests only
// and opened below one root.
type store struct {
	dir  string
	root *os.Root
}

// Revisions is where a home keeps revisions: a directory for each, which its hash in hex names.
func Revisions(home string) string { return filepath.Join(home, "blobs", revisions) }

func openStore(home string) (*store, error) {
	dir := filepath.Join(home, "blobs")
	for _, d := range []string{revisions, contracts} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return nil, disk.Error(err, "the directory "+dir+" cannot be made")
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, disk.Error(err, "the directory "+dir+" cannot be opened")
	}
	return &store{dir: dir, root: root}, nil
}

// close is for the failure of an opening, which is what counts then.
func (s *store) close() { _ = s.root.Close() }

// dirOf is the path of a stored revision.
func (s *store) dirOf(h ids.Digest) (string, error) {
	if _, err := ids.ParseDigest(string(h)); err != nil {
		return "", err
	}
	name := path.Join(revisions, h.Hex())
	info, err := s.root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return "", errs.New(errs.AdapterNotFound, "the revision "+h.Short()+" is not stored here", "add it with macaron adapter add DIR")
	}
	if err != nil {
		return "", disk.Error(err, "the adapter store cannot be read")
	}
	return filepath.Join(s.dir, revisions, h.Hex()), nil
}

// inspect reads a stored revision and checks that it is what its name says.
func (s *store) inspect(h ids.Digest) (adapter.Revision, error) {
	dir, err := s.dirOf(h)
	if err != nil {
		return adapter.Revision{}, err
	}
	rev, err := lora.Inspect(dir)
	if err == nil && rev.Hash != h {
		err = errs.New(errs.ChecksumMismatch, fmt.Sprintf("the stored revision %s has changed: it is now %s", h.Short(), rev.Hash.Short()), "remove "+dir+" and add the adapter again")
	}
	return rev, err
}

// put copies a revision's files from a directory, unless they are stored already.
func (s *store) put(h ids.Digest, from string) error {
	if _, err := s.dirOf(h); errs.CodeOf(err) != errs.AdapterNotFound {
		return err
	}
	if info, err := os.Stat(from); err == nil && info.Mode().IsRegular() {
		return errs.New(errs.Unsupported, from+" is one file; a contract keeps adapters as PEFT directories", "name the directory that it was made from; macaron engine serve takes GGUF adapters too")
	}
	return s.enter(h, func(scratch string) error {
		for _, name := range files {
			if err := s.copy(path.Join(scratch, name), filepath.Join(from, name)); err != nil {
				return err
			}
		}
		rev, err := lora.Inspect(filepath.Join(s.dir, filepath.FromSlash(scratch)))
		if err == nil && rev.Hash != h {
			err = errs.New(errs.ChecksumMismatch, from+" changed while it was read", "wait until its writer has finished, then try again")
		}
		return err
	})
}

// enter makes the directory of a revision, whole or not at all.
func (s *store) enter(h ids.Digest, fill func(scratch string) error) error {
	scratch := path.Join(revisions, "new-"+rand.Text())
	if err := s.root.Mkdir(scratch, 0o700); err != nil {
		return disk.Error(err, "the revision cannot be stored")
	}
	err := fill(scratch)
	if err == nil {
		err = disk.Error(disk.SyncDir(filepath.Join(s.dir, filepath.FromSlash(scratch))), "the revision cannot be stored")
	}
	if err == nil {
		err = s.root.Rename(scratch, path.Join(revisions, h.Hex()))
		if errors.Is(err, fs.ErrExist) { // another process was quicker
			err = s.root.RemoveAll(scratch)
		}
		err = disk.Error(errors.Join(err, disk.SyncDir(filepath.Join(s.dir, revisions))), "the revision cannot be stored")
	}
	if err != nil {
		return errors.Join(err, s.root.RemoveAll(scratch))
	}
	return nil
}

func (s *store) copy(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return disk.OpenError(err, from+" cannot be opened", "check the directory and its permissions")
	}
	defer in.Close() // read-only
	return s.create(to, in)
}

func (s *store) create(to string, in io.Reader) error {
	out, err := s.root.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o400)
	if err != nil {
		return disk.Error(err, "the revision cannot be stored")
	}
	_, err = io.Copy(out, in)
	return disk.Error(errors.Join(err, out.Sync(), out.Close()), "the revision cannot be stored")
}

// keepContract stores a contract by its hash, once: its own text, or the whole in one
// where its own text is not all of it.
func (s *store) keepContract(source *contract.Source) error {
	name := source.Contract.Hash().Hex() + ".toml"
	if _, err := s.root.Stat(path.Join(contracts, name)); err == nil {
		return nil
	}
	text := source.Files[0].Text
	if !source.Alone() {
		var err error
		if text, err = source.Contract.Text(); err != nil {
			return err
		}
	}
	return disk.Replace(filepath.Join(s.dir, contracts, name), text, 0o600)
}

func (s *store) contract(h ids.Digest) (*contract.Contract, error) {
	if _, err := ids.ParseDigest(string(h)); err != nil {
		return nil, err
	}
	k, err := contract.Load(filepath.Join(s.dir, contracts, h.Hex()+".toml"))
	if err == nil && k.Hash() != h {
		err = errs.Newf(errs.ChecksumMismatch, "the kept contract %s is not what its name says", h.Short())
	}
	return k, err
}

// Kept gives a contract that was in force once in a home, by its hash.
func Kept(home string, h ids.Digest) (*contract.Contract, error) {
	s, err := openStore(home)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.contract(h)
}
