package archive

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Bounds of what an archive may say.
const (
	maxManifest = 64 << 20
	maxFiles    = 1 << 20
)

func digest(sum []byte) ids.Digest { return ids.Digest("sha256:" + hex.EncodeToString(sum)) }

// Restore makes a home of an archive. The home must be empty or not there; it comes whole
// or not at all.
func Restore(ctx context.Context, path, home string) (m Manifest, err error) {
	if err := empty(home); err != nil {
		return m, err
	}
	in, err := os.Open(path)
	if err != nil {
		return m, disk.OpenError(err, path+" cannot be read", "name a file that macaron backup wrote")
	}
	defer in.Close() // read-only
	part := home + ".restoring"
	if err := clearLeft(part); err != nil {
		return m, err
	}
	if err := os.Mkdir(part, 0o700); err != nil {
		return m, disk.Error(err, part+" cannot be made")
	}
	defer os.RemoveAll(part) // is gone when all is well
	held, err := holdDir(part)
	if err != nil {
		return m, err
	}
	defer held.Close() // a directory's handle
	if m, err = extract(ctx, in, part); err != nil {
		return m, err
	}
	if err := os.Remove(home); err != nil && !errors.Is(err, os.ErrNotExist) {
		return m, disk.Error(err, home+" cannot be replaced")
	}
	if err := os.Rename(part, home); err != nil {
		return m, disk.Error(err, home+" cannot be made")
	}
	return m, disk.Error(disk.SyncDir(filepath.Dir(home)), home+" cannot be made")
}

func empty(home string) error {
	list, err := os.ReadDir(home)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return disk.Error(err, home+" cannot be read")
	}
	if len(list) > 0 {
		return errs.New(errs.InvalidRequest, home+" is not empty", "restore into another MACARON_HOME, or move this one away")
	}
	return nil
}

// extract reads the manifest and then the files, in its order, into a directory.
func extract(ctx context.Context, in io.Reader, dir string) (m Manifest, err error) {
	z, err := gzip.NewReader(in)
	if err != nil {
		return m, malformed("it is not compressed as backups are")
	}
	t := tar.NewReader(z)
	if m, err = manifest(t); err != nil {
		return m, err
	}
	for _, f := range m.Files {
		if err := ctx.Err(); err != nil {
			return m, errs.Wrap(errs.Canceled, err, "the restore was stopped", "")
		}
		h, err := t.Next()
		if err != nil || h.Name != f.Name || h.Typeflag != tar.TypeReg || h.Size != f.Size {
			return m, malformed(fmt.Sprintf("it lacks %.200q as its manifest has it", f.Name))
		}
		if err := place(t, dir, f); err != nil {
			return m, err
		}
	}
	if _, err := t.Next(); err != io.EOF {
		return m, malformed("it has more than its manifest says, or is cut short")
	}
	return m, nil
}

func manifest(t *tar.Reader) (m Manifest, err error) {
	h, err := t.Next()
	if err != nil || h.Name != manifestName || h.Size > maxManifest {
		return m, malformed("it does not begin with a manifest")
	}
	dec := json.NewDecoder(io.LimitReader(t, maxManifest))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return m, malformed("its manifest cannot be read")
	}
	if m.Schema != Schema {
		return m, errs.New(errs.Unsupported, fmt.Sprintf("the archive is of the form %.40q, not %s", m.Schema, Schema), "use the build that wrote it, or a newer one")
	}
	if len(m.Files) > maxFiles {
		return m, malformed("its manifest has too many files")
	}
	seen := map[string]bool{}
	for _, f := range m.Files {
		local := filepath.IsLocal(filepath.FromSlash(f.Name)) && !strings.Contains(f.Name, `\`) && f.Name != "lock"
		if !local || seen[f.Name] || f.Size < 0 {
			return m, malformed(fmt.Sprintf("its manifest names %.200q", f.Name))
		}
		seen[f.Name] = true
	}
	return m, nil
}

func malformed(why string) error {
	return errs.New(errs.FormatInvalid, "the archive is damaged or none of ours: "+why, "use another copy of the backup")
}

// place writes one file and compares its sum.
func place(t io.Reader, dir string, f File) error {
	path := filepath.Join(dir, filepath.FromSlash(f.Name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return disk.Error(err, f.Name+" cannot be written")
	}
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return disk.Error(err, f.Name+" cannot be written")
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, h), t)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.Join(malformed("it is cut short"), out.Close())
	}
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return disk.Error(err, f.Name+" cannot be written")
	}
	if digest(h.Sum(nil)) != f.SHA256 {
		return errs.New(errs.ChecksumMismatch, fmt.Sprintf("%.200q is not as it was saved", f.Name), "use another copy of the backup")
	}
	return nil
}
