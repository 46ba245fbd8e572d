package registry

import (
	"fmt"
	"io/fs"
	"strings"

	"macaron/internal/adapter"
	"macaron/internal/contract"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// The forms of a source that are no directories.
const (
	storedPrefix   = "sha256:"
	upstreamPrefix = "model:"
)

func isStored(source string) bool   { return strings.HasPrefix(source, storedPrefix) }
func isUpstream(source string) bool { return strings.HasPrefix(source, upstreamPrefix) }

func stamp(info fs.FileInfo) string {
	return fmt.Sprintf("%d %d\n", info.Size(), info.ModTime().UnixNano())
}

// load reads the contract and its adapters and, if all are well, puts them in force.
func (r *Registry) load() error {
	source, err := contract.Open(r.path, r.Overlays...)
	if err != nil {
		return err
	}
	if r.Trust != nil {
		if err := r.Trust(r.path, source); err != nil {
			return err
		}
	}
	k := source.Contract
	r.tried = source
	mark := r.marks(source) // before the reading: a change during it is seen next time
	next := Snapshot{Contract: k}
	for _, a := range k.Adapters {
		rev, err := r.inspect(a)
		if err != nil {
			e := *errs.As(err)
			e.Message = fmt.Sprintf("the adapter %s cannot be used: %s", a.Name, e.Message)
			return &e
		}
		next.Adapters = append(next.Adapters, Entry{Revision: rev, Title: a.Title, Description: a.Description, Prompt: a.Prompt})
	}
	if err := r.store.keepContract(source); err != nil {
		return err
	}
	r.now, r.mark, r.past[k.Hash()] = next, mark, k
	return nil
}

// inspect finds an adapter's revision, and copies a directory's into the store the
// first time that it is seen.
func (r *Registry) inspect(a contract.Adapter) (adapter.Revision, error) {
	if isUpstream(a.Source) {
		return adapter.Revision{Name: a.Name, Hash: ids.DigestOf([]byte(a.Source)), Source: a.Source}, nil
	}
	if dir, ok := r.directory(a.Source); ok {
		return r.fromDirectory(a, dir)
	}
	h, err := ids.ParseDigest(a.Source)
	if err != nil {
		return adapter.Revision{}, err
	}
	seen, ok := r.known[a.Source]
	if !ok {
		if seen.rev, err = r.store.inspect(h); err != nil {
			return adapter.Revision{}, err
		}
		r.known[a.Source] = seen
	}
	return named(seen.rev, a), nil
}

func (r *Registry) fromDirectory(a contract.Adapter, dir string) (adapter.Revision, error) {
	mark := markDir(dir)
	seen := r.known[dir]
	if seen.mark != mark {
		rev, err := lora.Inspect(dir)
		if err != nil {
			return rev, err
		}
		if err := r.store.put(rev.Hash, dir); err != nil {
			return rev, err
		}
		seen = inspected{mark: mark, rev: rev}
		r.known[dir] = seen
	}
	return named(seen.rev, a), nil
}

func named(rev adapter.Revision, a contract.Adapter) adapter.Revision {
	rev.Name, rev.Source = a.Name, a.Source
	return rev
}
