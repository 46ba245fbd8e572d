package evaluator

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"macaron/internal/contract/sign"
	"macaron/internal/disk"
	"macaron/internal/errs"
)

const seedBytes = 32

// Init makes an evaluator's directory: its key, its seed, an empty account, and the keys of
// who signs evaluation contracts and of who approves. The directory must not be there.
func Init(dir string, trusted, people []ed25519.PublicKey, random io.Reader) (ed25519.PublicKey, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, disk.OpenError(err, "the evaluator's directory "+dir+" cannot be made", "name one that is not there yet")
	}
	for sub, keys := range map[string][]ed25519.PublicKey{"trusted": trusted, "people": people} {
		if err := writeKeys(filepath.Join(dir, sub), keys); err != nil {
			return nil, err
		}
	}
	seed := make([]byte, seedBytes)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, err
	}
	public, err := sign.NewKey(filepath.Join(dir, "key"), random)
	if err != nil {
		return nil, err
	}
	if err := disk.Replace(filepath.Join(dir, "account.jsonl"), nil, 0o600); err != nil {
		return nil, err
	}
	return public, disk.Replace(filepath.Join(dir, "seed"), seed, 0o600) // the last: without it nothing is drawn
}

func writeKeys(dir string, keys []ed25519.PublicKey) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return disk.Error(err, dir+" cannot be made")
	}
	for i, k := range keys {
		text, err := sign.PublicPEM(k)
		if err != nil {
			return err
		}
		if err := disk.Replace(filepath.Join(dir, fmt.Sprintf("%02d.pub", i)), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (e *Evaluator) path(name string) string { return filepath.Join(e.Dir, name) }

// keys reads everything that is secret or trusted.
func (e *Evaluator) keys() error {
	info, err := os.Lstat(e.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return errs.New(errs.NotFound, "there is no evaluator at "+e.Dir, "make one first")
	}
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return errs.New(errs.Forbidden, "the evaluator's directory "+e.Dir+" is open to others", "chmod 700 it, and make a new evaluator if somebody may have read it")
	}
	if e.key, err = sign.Private(e.path("key")); err != nil {
		return err
	}
	if err := e.readSeed(); err != nil {
		return err
	}
	if e.trusted, err = publics(e.path("trusted")); err != nil {
		return err
	}
	e.people, err = publics(e.path("people"))
	return err
}

func (e *Evaluator) readSeed() error {
	info, err := os.Lstat(e.path("seed"))
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 || info.Size() != seedBytes {
		return errs.New(errs.Forbidden, "the evaluator's seed is not there, or others can read it", "make a new evaluator: what was sealed with this seed is sealed no more")
	}
	b, err := os.ReadFile(e.path("seed"))
	copy(e.seed[:], b)
	return disk.Error(err, "the evaluator's seed cannot be read")
}

func publics(dir string) ([]ed25519.PublicKey, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.pub"))
	if err != nil {
		return nil, err
	}
	return sign.Publics(paths)
}

// apart refuses paths that lie where the loop may write.
func apart(paths, outside []string) error {
	for _, dir := range outside {
		root, err := real(dir)
		if err != nil {
			return err
		}
		for _, p := range paths {
			at, err := real(p)
			if err != nil {
				return err
			}
			if rel, err := filepath.Rel(root, at); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
				return errs.New(errs.Forbidden, p+" lies in "+dir+", where the loop may write", "keep the evaluator and its contract elsewhere")
			}
		}
	}
	return nil
}

// real is a path without links; of one that is not there, that of its directory.
func real(path string) (string, error) {
	at, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		return filepath.Join(dir, filepath.Base(path)), disk.Error(err, path+" cannot be looked at")
	}
	if err == nil {
		at, err = filepath.Abs(at)
	}
	return at, disk.Error(err, path+" cannot be looked at")
}
