package curve

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path/filepath"
)

// Runs are the files of a home's training service, by owner and run.
type Runs struct{ Dir string }

// Path is a run's file.
func (r Runs) Path(owner, run string) string {
	sum := sha256.Sum256([]byte(owner))
	return filepath.Join(r.Dir, hex.EncodeToString(sum[:8]), url.PathEscape(run), File)
}

// Add adds a line to a run.
func (r Runs) Add(owner, run string, l Line) error { return Append(r.Path(owner, run), l) }

// Lines reads a run from a place on.
func (r Runs) Lines(owner, run string, at int64, most int) ([]Line, int64, error) {
	return Read(r.Path(owner, run), at, most)
}
