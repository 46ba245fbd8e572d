package update

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"macaron/internal/disk"
	"macaron/internal/errs"
)

// File is a journal in one file, which is replaced whole.
type File struct{ Path string }

// Recall implements Journal.
func (f File) Recall(key string) (string, bool, error) {
	all, err := f.read()
	v, ok := all[key]
	return v, ok, err
}

// Note implements Journal.
func (f File) Note(key, value string) error {
	all, err := f.read()
	if err != nil {
		return err
	}
	all[key] = value
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return errs.Wrap(errs.Internal, err, "the journal has no form", "")
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return disk.Error(err, filepath.Dir(f.Path)+" cannot be made")
	}
	return disk.Replace(f.Path, append(b, '\n'), 0o600)
}

func (f File) read() (map[string]string, error) {
	all := map[string]string{}
	b, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, disk.Error(err, f.Path+" cannot be read")
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, errs.Wrap(errs.FormatInvalid, err, f.Path+" is no journal of an update", "remove it: training begins anew")
	}
	return all, nil
}
