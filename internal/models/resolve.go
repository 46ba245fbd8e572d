package models

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"macaron/internal/disk"
	"macaron/internal/engine/weights/hf"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Local is a model file or directory that can be opened.
type Local struct {
	Name   string
	Path   string
	Digest ids.Digest // of the file, or of the directory as package hf defines it
}

// Resolve finds the file of a model given as a name (of the catalogue or of an earlier
// pull), as a source, or as a path, fetching what can be fetched.
func (f *Fetcher) Resolve(ctx context.Context, what string) (Local, error) {
	if IsSource(what) {
		src, err := parseSource(what)
		if err != nil {
			return Local{}, err
		}
		p, d, err := f.Fetch(ctx, Model{Name: src.nameOf(), Sources: []string{what}})
		return Local{src.nameOf(), p, d}, err
	}
	m, err := f.Store.Find(what)
	if err == nil {
		p, d, err := f.Fetch(ctx, m)
		return Local{m.Name, p, d}, err
	}
	if errs.CodeOf(err) != errs.ModelNotFound {
		return Local{}, err
	}
	return ByPath(what)
}

// Find gives the catalogue's or an earlier pull's model of a name. A word without a
// directory or ending that is none of them is errs.ModelNotFound.
func (s *Store) Find(name string) (Model, error) {
	if m, ok := Known(name); ok {
		return m, nil
	}
	list, err := s.Pulled()
	if err != nil {
		return Model{}, err
	}
	known := []string{}
	for _, m := range catalogue {
		known = append(known, m.Name)
	}
	for _, p := range list {
		if p.Name == name {
			return p.Model, nil
		}
		known = append(known, p.Name)
	}
	return Model{}, errs.New(errs.ModelNotFound, fmt.Sprintf("there is no model %.200q", name), "known are "+strings.Join(known, ", ")+"; a path to a GGUF file or a model directory and a source work too: "+sourceForms)
}

// ByPath describes a model file or directory of this machine, which is hashed for it.
func ByPath(p string) (Local, error) {
	if hf.Exists(p, hf.ConfigFile) {
		d, err := hf.Digest(p)
		return Local{strings.ToLower(filepath.Base(filepath.Clean(p))), p, d}, err
	}
	f, err := openRegular(p)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(p, `/\`) && filepath.Ext(p) != ".gguf" {
		return Local{}, errs.New(errs.ModelNotFound, fmt.Sprintf("there is no model %.200q", p), "macaron model ls lists the known names; a path to a GGUF file or a model directory and a source work too: "+sourceForms)
	}
	if err != nil {
		return Local{}, errs.Wrap(errs.ModelNotFound, err, fmt.Sprintf("the model file %.400s cannot be opened", p), "check the path and its permissions")
	}
	defer f.Close() // read-only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return Local{}, disk.Error(err, "the model file "+p+" cannot be read")
	}
	d := sum(h)
	for _, m := range catalogue { // a known file is called by its known name, wherever it lies
		if m.Digest == d {
			return Local{m.Name, p, d}, nil
		}
	}
	return Local{strings.ToLower(strings.TrimSuffix(filepath.Base(p), filepath.Ext(p))), p, d}, nil
}

// FromSource makes the model that a source names, under a given name or, when that is
// empty, under one made from the file's name.
func FromSource(text, name string) (Model, error) {
	src, err := parseSource(text)
	if err != nil {
		return Model{}, err
	}
	if name == "" {
		name = src.nameOf()
	}
	return Model{Name: name, Sources: []string{text}}, checkNew(name)
}
