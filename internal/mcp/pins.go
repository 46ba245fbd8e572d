package mcp

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"macaron/internal/adapter"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Files are pins in a directory, NAME.json for each server: {"tools": {"name": "sha256:..."}}.
type Files struct{ Dir string }

type pinFile struct {
	Tools map[string]ids.Digest `json:"tools"`
}

func (f Files) path(server string) (string, error) {
	if err := adapter.CheckName(server); err != nil {
		return "", err
	}
	return filepath.Join(f.Dir, server+".json"), nil
}

// Load reads the pins of a server; there are none before its first use.
func (f Files) Load(server string) (map[string]ids.Digest, error) {
	path, err := f.path(server)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]ids.Digest{}, nil
	}
	if err != nil {
		return nil, disk.Error(err, path+" cannot be read")
	}
	p := pinFile{Tools: map[string]ids.Digest{}}
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, errs.Wrap(errs.FormatInvalid, err, path+" is malformed", "remove it, and accept the tools of "+server+" again")
	}
	return p.Tools, nil
}

// Save replaces the pins of a server.
func (f Files) Save(server string, tools map[string]ids.Digest) error {
	path, err := f.path(server)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return disk.Error(err, f.Dir+" cannot be made")
	}
	b, err := json.MarshalIndent(pinFile{tools}, "", "  ")
	if err != nil {
		return errs.Wrap(errs.Internal, err, "pins cannot be written", "")
	}
	return disk.Replace(path, append(b, '\n'), 0o600)
}
