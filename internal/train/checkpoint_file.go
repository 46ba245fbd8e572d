package train

import (
	"bytes"
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

const (
	checkpointSuffix = ".safetensors"
	latestFile       = "latest" // names the newest checkpoint of a directory
)

// MaxCheckpoint bounds a checkpoint file that is read, in bytes.
const MaxCheckpoint = 16 << 30

// Keep writes a checkpoint into a directory under the name of its content, notes it as
// the latest there, and removes the one that was the latest before. Whenever the process
// is killed, the directory has a whole one.
func (t *Trainer) Keep(dir, cursor string) (ids.Digest, error) {
	var raw bytes.Buffer
	if err := t.Save(&raw, cursor); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", disk.Error(err, dir+" cannot be made")
	}
	before, _ := latest(dir)
	d := ids.DigestOf(raw.Bytes())
	if err := disk.Replace(filepath.Join(dir, d.Hex()+checkpointSuffix), raw.Bytes(), 0o600); err != nil {
		return "", err
	}
	if err := disk.Replace(filepath.Join(dir, latestFile), []byte(string(d)+"\n"), 0o600); err != nil {
		return "", err
	}
	if before != "" && before != d {
		if err := os.Remove(filepath.Join(dir, before.Hex()+checkpointSuffix)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", disk.Error(err, "an old checkpoint cannot be removed")
		}
	}
	return d, nil
}

// IsKept tells whether a file of that name is one that Keep makes.
func IsKept(name string) bool {
	digits, ok := strings.CutSuffix(name, checkpointSuffix)
	_, err := ids.ParseDigest("sha256:" + digits)
	return name == latestFile || ok && err == nil
}

// Latest reads the newest checkpoint of a directory: not_found when it notes none,
// checksum_mismatch when the file that it notes is gone or its bytes are not the ones that
// were written.
func Latest(dir string) (*Checkpoint, error) {
	d, err := latest(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, d.Hex()+checkpointSuffix)
	raw, err := readWhole(path, MaxCheckpoint)
	if errs.CodeOf(err) == errs.NotFound { // to begin anew unasked would lose what the run has learned
		return nil, errs.New(errs.ChecksumMismatch, "the checkpoint "+path+", which "+latestFile+" beside it names, is not there", "restore the file, or begin anew with --fresh")
	}
	if err != nil {
		return nil, err
	}
	if ids.DigestOf(raw) != d {
		return nil, errs.New(errs.ChecksumMismatch, path+" is not what was written there", "restore the file, or begin anew with --fresh")
	}
	return ReadCheckpoint(raw)
}

// latest is the digest that a directory notes.
func latest(dir string) (ids.Digest, error) {
	path := filepath.Join(dir, latestFile)
	raw, err := readWhole(path, 200)
	if err != nil {
		return "", err
	}
	d, err := ids.ParseDigest(strings.TrimSuffix(string(raw), "\n"))
	return d, errs.Wrap(errs.FormatInvalid, err, path+" names no checkpoint", "begin anew with --fresh")
}

// readWhole reads a regular file of at most so many bytes.
func readWhole(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, errs.New(errs.NotFound, "there is no file "+path, "begin anew, or give the directory of a run")
	}
	if info.Size() > most {
		return nil, errs.Newf(errs.TooLarge, "%s has %d bytes, more than %d", path, info.Size(), most)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, disk.Error(err, path+" cannot be read")
	}
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, disk.Error(err, path+" cannot be read")
	}
	if int64(len(raw)) > most {
		return nil, errs.New(errs.TooLarge, fmt.Sprintf("%s grew beyond %d bytes", path, most), "")
	}
	return raw, nil
}
