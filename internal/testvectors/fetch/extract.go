package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"macaron/internal/testvectors"
)

// maxUnpacked bounds how much of the archive is decompressed, bytes.
const maxUnpacked = 1 << 30

// extract takes the manifest's files out of the archive. Only names that the
// manifest has are written, under their last element, so that no name in the
// archive can lead elsewhere; each is checked in scratch before it moves to dir.
func extract(archive, scratch, dir string) error {
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return err
	}
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close() // read-only
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	wanted := map[string]testvectors.File{}
	for _, file := range testvectors.Files() {
		wanted[file.Path] = file
	}
	r := tar.NewReader(io.LimitReader(z, maxUnpacked))
	for len(wanted) > 0 {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%d files of the manifest are not in the archive", len(wanted))
		}
		if err != nil {
			return err
		}
		_, inside, _ := strings.Cut(h.Name, "/") // without the package's own directory
		file, ok := wanted[inside]
		if !ok || h.Typeflag != tar.TypeReg {
			continue
		}
		if err := keep(r, file, scratch, dir); err != nil {
			return err
		}
		delete(wanted, inside)
	}
	return nil
}

// keep writes one file, checks it and moves it into place.
func keep(r io.Reader, file testvectors.File, scratch, dir string) error {
	tmp := filepath.Join(scratch, file.Name())
	w, err := os.Create(tmp)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, io.LimitReader(r, file.Size+1))
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	if err := checkFile(tmp, file.SHA256); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(dir, file.Name()))
}
