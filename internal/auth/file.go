package auth

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/store/homelock"
)

// The sizes of a key file.
const (
	fileBytes = 16 << 20
	fileKeys  = 20000
)

// File is a Store in one TOML file, which only its owner may read. Writers hold a lock in the
// same directory and replace the file whole, so readers need none.
type File struct {
	path string

	mu   sync.Mutex
	seen os.FileInfo // of last; nil: there was no file
	last *Keys
}

// Dir is the directory of a home that holds the keys.
func Dir(home string) string { return filepath.Join(home, "keys") }

// OpenFile makes the Store of a home. Nothing is created before the first key.
func OpenFile(home string) *File {
	return &File{path: filepath.Join(Dir(home), "keys.toml")}
}

// Load implements Store.
func (f *File) Load(context.Context) (*Keys, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		if f.seen != nil || f.last == nil {
			f.seen, f.last = nil, &Keys{}
		}
		return f.last, nil
	}
	if err != nil {
		return nil, disk.Error(err, f.path+" cannot be read")
	}
	if f.seen != nil && os.SameFile(f.seen, info) && f.seen.ModTime().Equal(info.ModTime()) && f.seen.Size() == info.Size() {
		return f.last, nil
	}
	all, err := f.read()
	if err != nil {
		return nil, err
	}
	f.seen, f.last = info, all
	return all, nil
}

func (f *File) read() (*Keys, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, disk.Error(err, f.path+" cannot be read")
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, disk.Error(err, f.path+" cannot be read")
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, errs.New(errs.Forbidden, f.path+" can be read or written by others", "chmod 600 "+f.path)
	}
	b, err := io.ReadAll(io.LimitReader(file, fileBytes+1))
	if err != nil {
		return nil, disk.Error(err, f.path+" cannot be read")
	}
	return parse(f.path, b)
}

// ReadKeys reads a file of keys that lies elsewhere, whoever may read it.
func ReadKeys(path string) (*Keys, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, disk.OpenError(err, path+" cannot be read", "name a file of keys that this user may read")
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, fileBytes+1))
	if err != nil {
		return nil, disk.Error(err, path+" cannot be read")
	}
	return parse(path, b)
}

// parse reads the file strictly: what it does not know, it refuses.
func parse(path string, b []byte) (*Keys, error) {
	bad := func(why string) error {
		return errs.New(errs.FormatInvalid, path+": "+why, "correct it, or put a copy of it back")
	}
	if len(b) > fileBytes {
		return nil, bad("it is larger than any file of keys")
	}
	var all Keys
	dec := toml.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&all); err != nil {
		return nil, bad(err.Error())
	}
	if len(all.Keys) > fileKeys || len(all.Tenants) > fileKeys {
		return nil, bad("it has more keys or tenants than are read")
	}
	known, digests, tenants := map[string]bool{}, map[ids.Digest]bool{}, map[string]bool{}
	for _, k := range all.Keys {
		if err := k.Check(); err != nil {
			return nil, bad(err.Error())
		}
		if known[k.ID] || digests[k.Digest] {
			return nil, bad("the key " + k.ID + " stands twice")
		}
		known[k.ID], digests[k.Digest] = true, true
	}
	for _, t := range all.Tenants {
		if err := errors.Join(CheckTenant(t.Name), t.Limits.Check()); err != nil {
			return nil, bad(err.Error())
		}
		if tenants[t.Name] {
			return nil, bad("the tenant " + t.Name + " stands twice")
		}
		tenants[t.Name] = true
	}
	return &all, nil
}

// Change implements Store.
func (f *File) Change(ctx context.Context, fn func(*Keys) error) (err error) {
	dir := filepath.Dir(f.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return disk.Error(err, dir+" cannot be made")
	}
	lock, err := acquire(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	now, err := f.Load(ctx)
	if err != nil {
		return err
	}
	next := &Keys{Keys: append([]Key(nil), now.Keys...), Tenants: append([]Tenant(nil), now.Tenants...)}
	if err := fn(next); err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("# API keys: only digests of their secrets. Written by `macaron key`.\n")
	if err := toml.NewEncoder(&b).Encode(next); err != nil {
		return err
	}
	if _, err := parse(f.path, b.Bytes()); err != nil {
		return err
	}
	return disk.Replace(f.path, b.Bytes(), 0o600)
}

// acquire waits a moment for another command that changes keys.
func acquire(ctx context.Context, dir string) (*homelock.Lock, error) {
	for try := 0; ; try++ {
		lock, err := homelock.Acquire(dir)
		if err == nil || errs.CodeOf(err) != errs.HomeLocked || try == 40 {
			return lock, err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return nil, errs.Wrap(errs.Canceled, ctx.Err(), "stopped", "")
		}
	}
}
