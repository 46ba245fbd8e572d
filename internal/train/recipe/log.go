package recipe

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"macaron/internal/disk"
	"macaron/internal/train/curve"
)

// log is metrics.jsonl: a line for every step.
type log struct{ path string }

// openLog drops the lines of steps that a killed run took after its last checkpoint.
func openLog(path string, step int64) (*log, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, disk.Error(err, path+" cannot be made")
	}
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, disk.Error(err, path+" cannot be read")
	}
	var kept []byte
	for _, text := range bytes.SplitAfter(old, []byte("\n")) {
		var l struct{ Step float64 }
		if json.Unmarshal(text, &l) == nil && int64(l.Step) <= step {
			kept = append(kept, text...)
		}
	}
	return &log{path}, disk.Replace(path, kept, 0o600)
}

func (l *log) add(m map[string]float64) error { return curve.Append(l.path, m) }
