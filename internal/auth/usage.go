package auth

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/limits"
)

// Usage is what keys (by id) and tenants (by name) have used of their budgets, so that a restart
// does not give them new ones.
type Usage map[string]limits.Spent

// usageBytes bounds the file.
const usageBytes = 16 << 20

// Usage tells what was used so far.
func (k *Keyring) Usage() Usage {
	k.mu.Lock()
	defer k.mu.Unlock()
	u := Usage{}
	for _, key := range k.loaded.Keys {
		h := k.keys[key.Digest]
		u[h.ID] = h.account.Spent()
	}
	for name, a := range k.tenants {
		u[name] = a.Spent()
	}
	return u
}

// ReadUsage reads a saved Usage; a file that is not there is an empty one.
func ReadUsage(path string) (Usage, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Usage{}, nil
	}
	if err != nil {
		return nil, disk.Error(err, path+" cannot be read")
	}
	u := Usage{}
	if len(b) > usageBytes || json.Unmarshal(b, &u) != nil {
		return nil, errs.New(errs.FormatInvalid, path+" is not a file of used budgets", "delete it; the budgets of this day and month begin anew")
	}
	return u, nil
}

// SaveUsage writes down what was used, if it has changed since the last time.
func (k *Keyring) SaveUsage(path string) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	u := k.Usage()
	b, err := json.Marshal(u) // in the order of the names
	if err != nil || len(u) == 0 || string(b) == k.saved {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return disk.Error(err, filepath.Dir(path)+" cannot be made")
	}
	if err := disk.Replace(path, append(b, '\n'), 0o600); err != nil {
		return err
	}
	k.saved = string(b)
	return nil
}
