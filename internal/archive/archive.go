// Package archive writes a home to one file and makes a home of such a file: a gzipped tar
// whose first entry, manifest.json, has the size and SHA-256 of every other. An archive is a
// hostile file: names, sizes and sums are checked before anything is in its place.
package archive

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Schema names the form of the manifest.
const Schema = "macaron.backup/1"

// Manifest is the first entry of an archive.
type Manifest struct {
	Schema  string `json:"schema"`
	Version string `json:"version"` // of the program that wrote it
	Files   []File `json:"files"`
}

// File is one file of a home.
type File struct {
	Name   string     `json:"name"` // below the home, with slashes
	Size   int64      `json:"size"`
	SHA256 ids.Digest `json:"sha256"`
	from   string
}

// Options say what a backup holds.
type Options struct {
	Version string
	Models  bool // model files too, which can be fetched again
	// Snapshot writes the log to a new file; nil if the log is not in the home.
	Snapshot func(ctx context.Context, to string) error
}

const (
	manifestName = "manifest.json"
	logName      = "log.db"
)

// Backup writes the home to a new file, while a server runs or not.
func Backup(ctx context.Context, home, path string, o Options) (m Manifest, err error) {
	if _, err := os.Lstat(path); err == nil {
		return m, errs.New(errs.InvalidRequest, path+" exists", "name a new file")
	}
	m = Manifest{Schema: Schema, Version: o.Version}
	dir, held, err := scratch(home)
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(dir)
	defer held.Close() // a directory's handle
	var copies []File
	if o.Snapshot != nil {
		copied := filepath.Join(dir, logName)
		if err := o.Snapshot(ctx, copied); err != nil {
			return m, err
		}
		copies = []File{{Name: logName, from: copied}}
	}
	if m.Files, err = survey(home, o.Models); err != nil { // after the log: what its rows name is there
		return m, err
	}
	work, err := workspaces(ctx, home, dir)
	if err != nil {
		return m, disk.Error(err, "the workspaces of runs cannot be copied")
	}
	m.Files = append(append(m.Files, work...), copies...)
	for i := range m.Files {
		if err := m.Files[i].sum(); err != nil {
			return m, disk.Error(err, m.Files[i].Name+" cannot be read")
		}
	}
	part := path + ".part"
	if err := clearLeft(part); err != nil {
		return m, err
	}
	if err := write(ctx, part, m); err != nil {
		return m, errors.Join(disk.Error(err, path+" cannot be written"), os.Remove(part))
	}
	if err := os.Rename(part, path); err != nil {
		return m, disk.Error(err, path+" cannot be written")
	}
	return m, disk.Error(disk.SyncDir(filepath.Dir(path)), path+" cannot be written")
}

// survey lists the files of a home that are its state: not what is only for the moment,
// nor the log, which is copied by itself.
func survey(home string, models bool) (files []File, err error) {
	err = filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == home {
			return err
		}
		rel, err := filepath.Rel(home, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		passing := strings.HasPrefix(e.Name(), ".") || name == "lock" || name == "cache" || workspace(name) || name == "blobs/partial" || name == "blobs/sha256" && !models
		switch {
		case e.IsDir() && passing:
			return fs.SkipDir
		case e.IsDir() || passing || !e.Type().IsRegular() || strings.HasPrefix(name, logName):
			return nil
		}
		files = append(files, File{Name: name, from: path})
		return nil
	})
	if err != nil {
		return nil, disk.Error(err, home+" cannot be read")
	}
	return files, nil
}

func (f *File) sum() error {
	in, err := os.Open(f.from)
	if err != nil {
		return err
	}
	defer in.Close() // read-only
	h := sha256.New()
	f.Size, err = io.Copy(h, in)
	f.SHA256 = digest(h.Sum(nil))
	return err
}

// write makes the archive. A file that has changed since it was summed is an error.
func write(ctx context.Context, path string, m Manifest) error {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close() // closed below when all is well
	if err := hold(out); err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := t.WriteHeader(&tar.Header{Name: manifestName, Mode: 0o600, Size: int64(len(text))}); err != nil {
		return err
	}
	if _, err := t.Write(text); err != nil {
		return err
	}
	for _, f := range m.Files {
		if err := errors.Join(ctx.Err(), add(t, f)); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close(), out.Sync(), out.Close())
}

func add(t *tar.Writer, f File) error {
	in, err := os.Open(f.from)
	if err != nil {
		return err
	}
	defer in.Close() // read-only
	if err := t.WriteHeader(&tar.Header{Name: f.Name, Mode: 0o600, Size: f.Size}); err != nil {
		return err
	}
	h := sha256.New()
	if _, err := io.Copy(t, io.TeeReader(in, h)); err != nil {
		return err
	}
	if digest(h.Sum(nil)) != f.SHA256 {
		return errors.New(f.Name + " changed while it was read; try again")
	}
	return nil
}
