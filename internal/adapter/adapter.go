// Package adapter holds the words for LoRA specialists: an adapter is a name, a
// revision is one immutable state of it, named by its content. No I/O.
package adapter

import (
	"regexp"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Revision is one immutable state of an adapter. Its Hash is that of the canonical
// {base, rank, alpha, targets, per-tensor sha256} (docs/formats/canonical.md),
// never of file bytes and never of the name. The zero Revision is the bare base.
type Revision struct {
	Name    string     `json:"name"`
	Hash    ids.Digest `json:"hash"`
	Base    ids.Digest `json:"base,omitempty"` // the base that it was made for
	Rank    int        `json:"rank,omitempty"`
	Alpha   float64    `json:"alpha,omitempty"`
	Targets []string   `json:"targets,omitempty"` // sorted module names, such as q_proj
	Params  int64      `json:"params,omitempty"`  // stored values
	Bytes   int64      `json:"bytes,omitempty"`   // of the stored values
	Source  string     `json:"source,omitempty"`  // directory, or model name at an upstream
}

// IsBase reports whether r stands for the bare base.
func (r Revision) IsBase() bool { return r.Name == "" && r.Hash == "" }

// NamePattern is the expression that an adapter's name matches.
const NamePattern = `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`

var name = regexp.MustCompile(NamePattern)

// CheckName refuses names that could not be a label, a path element or a model id.
func CheckName(s string) error {
	if name.MatchString(s) {
		return nil
	}
	return errs.New(errs.InvalidRequest, "not an adapter name: "+errs.Clip(s), "use 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter or digit")
}
