package toolshed

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"macaron/internal/canonical"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Bounds of a set of cases.
const (
	minCases    = 8
	maxCases    = 1000
	maxCaseFile = 8 << 20
)

// Case is one question to a tool and its answer.
type Case struct {
	Args  json.RawMessage `json:"args"`
	Want  json.RawMessage `json:"want"`
	Calls []Fixture       `json:"calls,omitempty"` // what the tools that it calls answer
}

// Fixture is an answer of a tool that a case needs.
type Fixture struct {
	Name  string          `json:"name"`
	Args  json.RawMessage `json:"args"`
	Value json.RawMessage `json:"value"`
}

// Set is a file of cases: a list, or a generator that makes them, or both.
type Set struct {
	Cases     []Case     `json:"cases,omitempty"`
	Generator *Generator `json:"generator,omitempty"`
}

// Generator is Python of the operator: generate(random) gives a list of arguments, and
// expected(**arguments) what a tool must give.
type Generator struct {
	Source string `json:"source"`
	Seed   int64  `json:"seed"`
}

// ParseSet reads a file of cases strictly.
func ParseSet(b []byte) (Set, error) {
	var s Set
	if len(b) > maxCaseFile {
		return s, errs.Newf(errs.TooLarge, "a file of cases has at most %d bytes", maxCaseFile)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return s, errs.New(errs.FormatInvalid, "the file of cases cannot be read: "+errs.Clip(err.Error()), `it is {"cases": [{"args": {...}, "want": ...}, ...]} or has a generator; docs/TOOLSHED.md`)
	}
	for i, c := range s.Cases {
		if a := bytes.TrimSpace(c.Args); len(a) == 0 || a[0] != '{' || len(c.Want) == 0 {
			return s, errs.New(errs.FormatInvalid, fmt.Sprintf("case %d has no args or no want", i+1), "")
		}
	}
	return s, nil
}

// Cases keep the sets by which tools were promoted. They are the operator's: no run, and
// no tool, reads them.
type Cases interface {
	Put(owner string, cases []Case) (ids.Digest, error)
	Get(owner string, set ids.Digest) ([]Case, error)
}

// Files are cases in a directory, a directory for each owner, a file for each set.
type Files struct{ Dir string }

func (f Files) path(owner string, set ids.Digest) string {
	return filepath.Join(f.Dir, hex.EncodeToString([]byte(owner)), set.Hex()+".json")
}

// Put keeps a set and names it.
func (f Files) Put(owner string, cases []Case) (ids.Digest, error) {
	b, err := canonical.Bytes(cases)
	if err != nil {
		return "", err
	}
	set := ids.DigestOf(b)
	path := f.path(owner, set)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", disk.Error(err, "the cases cannot be kept")
	}
	return set, disk.Replace(path, b, 0o600)
}

// Get reads a set and checks that it is the named one.
func (f Files) Get(owner string, set ids.Digest) ([]Case, error) {
	if _, err := ids.ParseDigest(string(set)); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(f.path(owner, set))
	if err != nil {
		return nil, disk.Error(err, "the cases "+set.Short()+" cannot be read")
	}
	if ids.DigestOf(b) != set {
		return nil, errs.New(errs.ChecksumMismatch, "the cases "+set.Short()+" are not what they were", "promote the tool again")
	}
	var cases []Case
	return cases, json.Unmarshal(b, &cases)
}
