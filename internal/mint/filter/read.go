package filter

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Dataset is one that was made.
type Dataset struct {
	Dir      string
	Digest   ids.Digest // of its manifest
	Manifest Manifest
}

const (
	maxManifest = 16 << 20
	maxLine     = 64 << 20
)

// Open reads a dataset's manifest and holds every file to it.
func Open(dir string) (*Dataset, error) {
	f, err := os.Open(filepath.Join(dir, ManifestFile))
	if err != nil {
		return nil, disk.OpenError(err, dir+" is no dataset", "macaron data export --train makes one and prints its directory")
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, disk.Error(err, "the manifest cannot be read")
	}
	d := &Dataset{Dir: dir, Digest: ids.DigestOf(raw)}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d.Manifest); err != nil || d.Manifest.Format != Format {
		return nil, errs.New(errs.FormatInvalid, "the manifest of "+dir+" is none of "+Format, "use the build that made the dataset, or make it again")
	}
	for _, name := range []string{TrainFile, HeldOutFile, ProvenanceFile, DroppedFile} {
		if err := d.verify(name); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *Dataset) verify(name string) error {
	f, err := os.Open(filepath.Join(d.Dir, name))
	if err != nil {
		return disk.OpenError(err, "the dataset has no "+name, "make it again")
	}
	defer f.Close() // read-only
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return disk.Error(err, name+" cannot be read")
	}
	if got := ids.Digest(fmt.Sprintf("sha256:%x", sum.Sum(nil))); got != d.Manifest.Files[name].Digest {
		return errs.New(errs.ChecksumMismatch, name+" is not what the manifest names", "make the dataset again; nobody may change one")
	}
	return nil
}

// Rows gives the provenance of every row.
func (d *Dataset) Rows(do func(Provenance) error) error { return lines(d, ProvenanceFile, do) }

// Dropped gives what did not become a row.
func (d *Dataset) Dropped(do func(Dropped) error) error { return lines(d, DroppedFile, do) }

func lines[T any](d *Dataset, name string, do func(T) error) error {
	f, err := os.Open(filepath.Join(d.Dir, name))
	if err != nil {
		return disk.Error(err, name+" cannot be read")
	}
	defer f.Close() // read-only
	all := bufio.NewScanner(f)
	all.Buffer(make([]byte, 1<<16), maxLine)
	for n := 1; all.Scan(); n++ {
		var row T
		dec := json.NewDecoder(bytes.NewReader(all.Bytes()))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&row); err != nil {
			return errs.New(errs.FormatInvalid, fmt.Sprintf("line %d of %s is malformed", n, name), "make the dataset again")
		}
		if err := do(row); err != nil {
			return err
		}
	}
	return errs.Wrap(errs.FormatInvalid, all.Err(), name+" cannot be read as lines", "make the dataset again")
}
