package rig

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"macaron/internal/disk"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/expansion"
)

// Kept are attempts in a file: the hashes that they depend on, and a line for each. What was
// kept is not tried again, so a measurement that was stopped goes on. It implements
// expansion.Cache.
type Kept struct {
	mu  sync.Mutex
	f   *os.File
	all map[expansion.Key]mindforge.Outcome
}

type kept struct {
	Key     expansion.Key     `json:"key"`
	Outcome mindforge.Outcome `json:"outcome"`
}

// OpenKept opens or makes the file.
func OpenKept(path string, h Hashes) (*Kept, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, disk.Error(err, path+" cannot be made")
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, disk.OpenError(err, path+" cannot be opened", "")
	}
	k := &Kept{f: f, all: map[expansion.Key]mindforge.Outcome{}}
	if err := k.read(path, h); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return k, nil
}

// read takes what is there. The last line may have been cut short by a kill.
func (k *Kept) read(path string, h Hashes) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return disk.Error(err, path+" cannot be read")
	}
	whole := bytes.LastIndexByte(raw, '\n') + 1
	if err := k.f.Truncate(int64(whole)); err != nil {
		return disk.Error(err, path+" cannot be mended")
	}
	first, rest, _ := bytes.Cut(raw[:whole], []byte("\n"))
	if whole == 0 {
		return k.line(h)
	}
	var was Hashes
	if err := json.Unmarshal(first, &was); err != nil {
		return err
	}
	for dec := json.NewDecoder(bytes.NewReader(rest)); dec.More(); {
		var x kept
		if err := dec.Decode(&x); err != nil {
			return err
		}
		k.all[x.Key] = x.Outcome
	}
	return h.Same(was, path)
}

func (k *Kept) line(x any) error {
	b, err := json.Marshal(x)
	if err != nil {
		return err
	}
	_, err = k.f.Write(append(b, '\n'))
	return disk.Error(err, k.f.Name()+" cannot be written")
}

// Get implements expansion.Cache.
func (k *Kept) Get(key expansion.Key) (mindforge.Outcome, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o, ok := k.all[key]
	return o, ok
}

// Put implements expansion.Cache.
func (k *Kept) Put(key expansion.Key, o mindforge.Outcome) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all[key] = o
	return k.line(kept{key, o})
}

// Len counts them.
func (k *Kept) Len() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.all)
}

// Close closes the file.
func (k *Kept) Close() error { return k.f.Close() }
