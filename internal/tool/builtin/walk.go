package builtin

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"macaron/internal/errs"
)

var listSchema = schema(`"path":{"type":"string","maxLength":1024,"description":"directory; the workspace itself if absent"},"glob":{"type":"string","maxLength":256,"description":"only names such as *.py"},"depth":{"type":"integer","minimum":1,"maximum":64}`, ``)

type listArgs struct {
	Path  string `json:"path"`
	Glob  string `json:"glob"`
	Depth int    `json:"depth"`
}

type entry struct {
	Path  string `json:"path"`
	Kind  string `json:"kind"` // file, directory, link, other
	Bytes int64  `json:"bytes,omitempty"`
}

type listResult struct {
	Entries []entry `json:"entries"`
	More    bool    `json:"more,omitempty"`
}

func (f workspace) list(ctx context.Context, a listArgs) (any, error) {
	from, match, err := place(a.Path, a.Glob)
	if err != nil {
		return nil, err
	}
	r := listResult{Entries: []entry{}}
	err = walk(f.Root, from, func(p string, e fs.DirEntry) error {
		if ctx.Err() != nil {
			return errs.Wrap(errs.Canceled, ctx.Err(), "stopped", "")
		}
		if match(e.Name()) {
			if r.More = len(r.Entries) == maxEntries; r.More {
				return fs.SkipAll
			}
			r.Entries = append(r.Entries, describe(p, e))
		}
		if a.Depth > 0 && e.IsDir() && below(from, p) >= a.Depth {
			return fs.SkipDir
		}
		return nil
	})
	return r, err
}

// below is how many steps p lies under from.
func below(from, p string) int {
	if from != "." {
		p = strings.TrimPrefix(p, from+"/")
	}
	return strings.Count(p, "/") + 1
}

func describe(p string, e fs.DirEntry) entry {
	out := entry{Path: p, Kind: "other"}
	switch {
	case e.IsDir():
		out.Kind = "directory"
	case e.Type()&fs.ModeSymlink != 0:
		out.Kind = "link"
	case e.Type().IsRegular():
		out.Kind = "file"
		if info, err := e.Info(); err == nil {
			out.Bytes = info.Size()
		}
	}
	return out
}

var searchSchema = schema(`"pattern":{"type":"string","minLength":1,"maxLength":1024},"path":{"type":"string","maxLength":1024,"description":"directory; the workspace itself if absent"},"glob":{"type":"string","maxLength":256,"description":"only names such as *.py"}`, `"pattern"`)

type searchArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Glob    string `json:"glob"`
}

type found struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

type searchResult struct {
	Matches []found `json:"matches"`
	More    bool    `json:"more,omitempty"`
}

func (f workspace) search(ctx context.Context, a searchArgs) (any, error) {
	from, match, err := place(a.Path, a.Glob)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(a.Pattern)
	if err != nil || len(a.Pattern) > 1024 {
		return nil, bad("the pattern is no regular expression (RE2) of at most 1024 bytes: "+errs.Clip(a.Pattern), "quote special characters with \\")
	}
	r := searchResult{Matches: []found{}}
	err = walk(f.Root, from, func(p string, e fs.DirEntry) error {
		if ctx.Err() != nil {
			return errs.Wrap(errs.Canceled, ctx.Err(), "stopped", "")
		}
		if !e.Type().IsRegular() || !match(e.Name()) {
			return nil
		}
		b, err := f.bytes(p)
		if err != nil || !utf8.Valid(b) {
			return nil // gone meanwhile, too large or no text: not searched
		}
		return r.lines(re, p, b)
	})
	return r, err
}

func (r *searchResult) lines(re *regexp.Regexp, p string, b []byte) error {
	for n := 1; len(b) > 0; n++ {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		if b = rest; !re.Match(line) {
			continue
		}
		if r.More = len(r.Matches) == maxMatches; r.More {
			return fs.SkipAll
		}
		text := string(line)
		if len(text) > 400 {
			text = strings.ToValidUTF8(text[:400], "") + "..."
		}
		r.Matches = append(r.Matches, found{p, n, text})
	}
	return nil
}

// place checks a directory and a glob; no glob takes every name.
func place(dir, glob string) (string, func(string) bool, error) {
	from := "."
	if strings.Trim(dir, "/") != "" {
		var err error
		if from, err = inside(dir); err != nil {
			return "", nil, err
		}
	}
	if glob == "" {
		return from, func(string) bool { return true }, nil
	}
	if _, err := path.Match(glob, ""); err != nil {
		return "", nil, bad("the glob "+errs.Clip(glob)+" is malformed", "give one such as *.py")
	}
	return from, func(name string) bool { ok, _ := path.Match(glob, name); return ok }, nil
}

var errWalked = errs.New(errs.TooLarge, "there are too many files to look at all of them", "name a directory further down")

// walk visits what lies below a directory, without following links.
func walk(root *os.Root, from string, visit func(p string, e fs.DirEntry) error) error {
	seen := 0
	err := fs.WalkDir(root.FS(), from, func(p string, e fs.DirEntry, err error) error {
		if seen++; seen > maxWalked {
			return errWalked
		}
		if err != nil {
			if p == from {
				return failed(p, err)
			}
			return skip(e) // not readable, or gone meanwhile
		}
		if p == from && e.IsDir() {
			return nil
		}
		return visit(p, e)
	})
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

func skip(e fs.DirEntry) error {
	if e != nil && e.IsDir() {
		return fs.SkipDir
	}
	return nil
}
