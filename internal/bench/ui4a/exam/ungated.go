package exam

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"macaron/internal/bench/ui4a"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// ungated is what the layers of a card have without the gate, by name.
type ungated map[string]float64

func ungatedOf(layers []ui4a.Layer) ungated {
	u := ungated{}
	for _, l := range layers {
		if l.Ungated != nil {
			u[l.Name] = *l.Ungated
		}
	}
	return u
}

// ungatedFile keeps the scores of cards by what they were measured with, a line each, so
// that a long measurement goes on where it was ended.
type ungatedFile struct {
	file *os.File // nil keeps nothing
	have map[ids.Digest]ungated
}

// measured is a line of the file.
type measured struct {
	Card   ids.Digest `json:"card"`
	Case   string     `json:"case"` // for who reads the file
	Layers ungated    `json:"layers"`
}

func openUngated(dir string) (*ungatedFile, error) {
	f := &ungatedFile{have: map[ids.Digest]ungated{}}
	if dir == "" {
		return f, nil
	}
	path := filepath.Join(dir, "mutants.jsonl")
	kept, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, disk.Error(err, path+" cannot be read")
	}
	lines := bufio.NewScanner(bytes.NewReader(kept))
	for lines.Scan() {
		var m measured
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return nil, errs.Wrap(errs.FormatInvalid, err, path+" has a line that is no measured card", "take the line out: it was cut short when a run was ended")
		}
		f.have[m.Card] = m.Layers
	}
	if err = os.MkdirAll(dir, 0o755); err == nil {
		f.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	}
	return f, disk.Error(err, path+" cannot be written")
}

func (f *ungatedFile) close() {
	if f.file != nil {
		_ = f.file.Close() // every line was written whole
	}
}

func (f *ungatedFile) find(j job) (ungated, bool) {
	u, ok := f.have[j.digest()]
	return u, ok
}

func (f *ungatedFile) add(j job, u ungated) error {
	if f.file == nil {
		return nil
	}
	b, err := json.Marshal(measured{j.digest(), j.c.ID, u})
	if err == nil {
		_, err = f.file.Write(append(b, '\n'))
	}
	return disk.Error(err, f.file.Name()+" cannot be written")
}

// digest is that of all that a score depends on, apart from the bench itself.
func (j job) digest() ids.Digest {
	b, err := json.Marshal([]any{ui4a.Version, j.c, j.source})
	if err != nil {
		panic(err) // a case is texts and numbers
	}
	return ids.DigestOf(b)
}
