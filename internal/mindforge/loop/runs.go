package loop

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"macaron/internal/disk"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/expansion"
)

// Runs know by which run of the harness an attempt was made. They lie outside of the ledger: an
// attempt that is made again has another run, and comes to the same.
type Runs interface {
	Note(k expansion.Key, run string) error
	Of(k expansion.Key) (run string, ok bool, err error)
}

// RunsFile keeps them in a file of lines, of which a later one goes before.
type RunsFile struct {
	Path string

	mu   sync.Mutex
	all  map[expansion.Key]string
	file *os.File
}

type noted struct {
	Key expansion.Key `json:"key"`
	Run string        `json:"run"`
}

// Of implements Runs.
func (f *RunsFile) Of(k expansion.Key) (string, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.open()
	run, ok := f.all[k]
	return run, ok, err
}

// Note implements Runs.
func (f *RunsFile) Note(k expansion.Key, run string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.open(); err != nil {
		return err
	}
	line, err := json.Marshal(noted{k, run})
	if err != nil {
		return err
	}
	if _, err := f.file.Write(append(line, '\n')); err != nil {
		return disk.Error(err, f.Path+" cannot be written")
	}
	f.all[k] = run
	return nil
}

// open reads what is there. A line that a kill cut short is none, and ends before the next one.
func (f *RunsFile) open() error {
	if f.file != nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return disk.Error(err, filepath.Dir(f.Path)+" cannot be made")
	}
	all, err := f.read()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, err = file.WriteString("\n")
	}
	if err != nil {
		return disk.Error(err, f.Path+" cannot be written")
	}
	f.all, f.file = all, file
	return nil
}

func (f *RunsFile) read() (map[expansion.Key]string, error) {
	all := map[expansion.Key]string{}
	file, err := os.Open(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, disk.Error(err, f.Path+" cannot be read")
	}
	defer file.Close() // read only
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var n noted
		if json.Unmarshal(lines.Bytes(), &n) == nil {
			all[n.Key] = n.Run
		}
	}
	return all, disk.Error(lines.Err(), f.Path+" cannot be read")
}

// Close gives the file back.
func (f *RunsFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file, f.all = nil, nil
	return err
}

// recorded gives attempts the runs by which they were made. The contract of each is that of the
// base with its edits.
func (w *work) recorded(base mindforge.Pair, tries []expansion.Tried) error {
	if w.Runs == nil {
		return nil
	}
	for i := range tries {
		c, err := edit.Apply(base.Contract, tries[i].Edits...)
		if err != nil {
			return err
		}
		h, err := expansion.PairHash(mindforge.Pair{Contract: c, Revisions: base.Revisions})
		if err != nil {
			return err
		}
		run, ok, err := w.Runs.Of(expansion.Key{Pair: h, Task: tries[i].Item, Seed: tries[i].Seed})
		if err != nil {
			return err
		}
		if ok {
			tries[i].Outcome.Run = run
		}
	}
	return nil
}
