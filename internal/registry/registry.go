// Package registry knows the adapters that a contract registers and the revision of
// each. It keeps every revision and every contract that it has seen in MACARON_HOME,
// under its content, so that open turns stay pinned to theirs while the contract file
// and the directories that it names change; changes are taken up as they happen.
package registry

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"macaron/internal/adapter"
	"macaron/internal/contract"
	"macaron/internal/contract/sign"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Entry is one registered adapter.
type Entry struct {
	adapter.Revision
	Title       string
	Description string
	Prompt      string
}

// Snapshot is a contract with its adapters, in the contract's order. It is immutable.
type Snapshot struct {
	Contract *contract.Contract
	Adapters []Entry
}

// Registry is safe for concurrent use.
type Registry struct {
	path  string // of the contract file
	store *store
	Options

	mu    sync.Mutex
	now   Snapshot
	tried *contract.Source // the last that could be read; that of now unless it went wrong
	mark  string           // state of the files that it was made from
	wrong error            // why the files as they are now are not in force; nil when they are
	known map[string]inspected
	past  map[ids.Digest]*contract.Contract
}

// inspected is a directory's revision and the state of its files then.
type inspected struct {
	mark string
	rev  adapter.Revision
}

// Options say which contracts are taken. All may be zero.
type Options struct {
	Overlays []string                                    // of the contract, in order
	Trust    func(path string, s *contract.Source) error // refuses a contract that must not be in force
	Report   func(error)                                 // told once of each contract that could not be taken up
	Lenient  bool                                        // open without a contract in force too: Current tells why there is none
}

// Open reads the contract file and inspects every adapter that it names.
func Open(home, contractPath string, o Options) (*Registry, error) {
	s, err := openStore(home)
	if err != nil {
		return nil, err
	}
	if o.Report == nil {
		o.Report = func(error) {}
	}
	r := &Registry{path: contractPath, store: s, Options: o, known: map[string]inspected{}, past: map[ids.Digest]*contract.Contract{}}
	if r.wrong = r.load(); r.wrong != nil && !o.Lenient {
		s.close()
		return nil, r.wrong
	}
	return r, nil
}

// Close frees the store's directory handle.
func (r *Registry) Close() error {
	return disk.Error(r.store.root.Close(), "the adapter store cannot be closed")
}

// Current is the contract in force. When the files have changed they are read again;
// if they cannot be used, what was in force stays, and Problem tells why. All owners
// share one contract so far.
func (r *Registry) Current(_ context.Context, _ string) (Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.marks(r.tried) != r.mark {
		if r.wrong = r.load(); r.wrong != nil {
			r.mark = r.marks(r.tried)
			r.Report(r.wrong)
		}
	}
	if r.now.Contract == nil {
		return r.now, r.wrong
	}
	return r.now, nil
}

// Adapters lists the registered adapters in the order of the contract.
func (r *Registry) Adapters(ctx context.Context, owner string) ([]Entry, error) {
	s, err := r.Current(ctx, owner)
	return s.Adapters, err
}

// Problem is why the contract file as it stands is not in force, nil when it is.
func (r *Registry) Problem() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wrong
}

// Contract gives a contract by its hash: the one in force or any that was.
func (r *Registry) Contract(h ids.Digest) (*contract.Contract, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.past[h]; k != nil {
		return k, nil
	}
	k, err := r.store.contract(h)
	if err != nil {
		return nil, err
	}
	r.past[h] = k
	return k, nil
}

// Dir is the directory of a revision's files, whichever contract names it now.
func (r *Registry) Dir(rev adapter.Revision) (string, error) {
	if isUpstream(rev.Source) {
		return "", errs.New(errs.Unsupported, "the adapter "+rev.Name+" lives at an upstream as "+rev.Source, "serve it with --upstream, or give its source as a directory")
	}
	return r.store.dirOf(rev.Hash)
}

// marks is the state of every file that a contract depends on.
func (r *Registry) marks(s *contract.Source) string {
	m := markOf(r.path) + markOf(r.path+sign.Suffix)
	if s == nil {
		return m
	}
	for _, f := range s.Files[1:] {
		m += markOf(filepath.Join(filepath.Dir(r.path), filepath.FromSlash(f.Path)))
	}
	for _, a := range s.Contract.Adapters {
		if dir, ok := r.directory(a.Source); ok {
			m += markDir(dir)
		}
	}
	return m
}

// directory is the path of a source that is one.
func (r *Registry) directory(source string) (string, bool) {
	if isStored(source) || isUpstream(source) {
		return "", false
	}
	if filepath.IsAbs(source) {
		return source, true
	}
	return filepath.Join(filepath.Dir(r.path), filepath.FromSlash(source)), true
}

func markDir(dir string) string {
	m := ""
	for _, name := range files {
		m += markOf(filepath.Join(dir, name))
	}
	return m
}

func markOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return path + " absent\n"
	}
	return path + " " + stamp(info)
}
