package ui4a

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/errs"
)

//go:embed cases
var files embed.FS

// Bounds of a case.
const (
	maxFile  = 64 << 10
	maxSteps = 24
	maxList  = 40
)

const formatPage = "docs/formats/ui4a-bench.md has the format"

// Cases gives the cases of this build by name, all or those whose names begin with one of
// some words.
func Cases(only ...string) ([]*Case, error) {
	sub, err := fs.Sub(files, "cases")
	if err != nil {
		return nil, err
	}
	return ReadAll(sub, only...)
}

// ReadAll reads every case of a directory.
func ReadAll(dir fs.FS, only ...string) ([]*Case, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, errs.Wrap(errs.NotFound, err, "the directory of cases cannot be read", "")
	}
	var cases []*Case
	for _, e := range entries {
		if !e.IsDir() || len(only) > 0 && !slices.ContainsFunc(only, func(p string) bool { return strings.HasPrefix(e.Name(), p) }) {
			continue
		}
		c, err := Read(dir, e.Name())
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, errs.New(errs.NotFound, fmt.Sprintf("no case begins with %q", only), "macaron bench ui4a --list prints them")
	}
	return cases, nil
}

// Read reads one case strictly.
func Read(dir fs.FS, name string) (*Case, error) {
	raw, err := readFile(dir, path.Join(name, "case.toml"))
	if err != nil {
		return nil, err
	}
	c := &Case{Assets: map[string][]byte{}}
	if err := toml.NewDecoder(bytes.NewReader(raw)).DisallowUnknownFields().Decode(c); err != nil {
		return nil, explain(name, err)
	}
	if c.ID != name {
		return nil, bad(name, "id", fmt.Sprintf("it is %q, and the directory is %q", c.ID, name))
	}
	if err := c.load(dir); err != nil {
		return nil, err
	}
	return c, c.check()
}

// load reads the files beside case.toml; what is neither known nor named is refused.
func (c *Case) load(dir fs.FS) error {
	texts := map[string]*string{"card.tsx": &c.Card, "answer.md": &c.Answer, "twin.html": &c.Twin}
	entries, err := fs.ReadDir(dir, c.ID)
	if err != nil {
		return errs.Wrap(errs.NotFound, err, "the case "+c.ID+" cannot be read", "")
	}
	for _, e := range entries {
		if e.Name() == "case.toml" {
			continue
		}
		b, err := readFile(dir, path.Join(c.ID, e.Name()))
		if err != nil {
			return err
		}
		if to := texts[e.Name()]; to != nil {
			*to = string(b)
			continue
		}
		at := slices.IndexFunc(c.Context, func(x Context) bool { return x.File == e.Name() })
		if at < 0 {
			return bad(c.ID, e.Name(), "no context names this file; known are case.toml, card.tsx, answer.md and twin.html")
		}
		c.Assets[c.Context[at].Name] = b
	}
	return nil
}

func readFile(dir fs.FS, name string) ([]byte, error) {
	b, err := fs.ReadFile(dir, name)
	if err != nil {
		return nil, errs.Wrap(errs.NotFound, err, name+" cannot be read", formatPage)
	}
	if len(b) > maxFile {
		return nil, errs.Newf(errs.TooLarge, "%s has %d bytes; a file of a case has at most %d", name, len(b), maxFile)
	}
	return b, nil
}

// bad is a coded error about one key of a case.
func bad(id, key, what string) error {
	return errs.New(errs.FormatInvalid, fmt.Sprintf("case %s, %s: %s", id, key, what), formatPage).In(key)
}

// explain names line and key of what TOML cannot be read as a case.
func explain(id string, err error) error {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		line, _ := unknown.Errors[0].Position()
		key := unknown.Errors[0].Key()
		return bad(id, fmt.Sprintf("line %d", line), fmt.Sprintf("there is no key %q here; known are %s", strings.Join(key, "."), strings.Join(knownKeys(key), ", ")))
	}
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, _ := wrong.Position()
		return bad(id, fmt.Sprintf("line %d", line), wrong.Error())
	}
	return errs.Wrap(errs.FormatInvalid, err, "case "+id+" cannot be read", formatPage)
}
