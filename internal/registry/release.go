package registry

import (
	"fmt"
	"os"
	"path"
	"path/filepath"

	"macaron/internal/adapter"
	"macaron/internal/contract"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Keep stores a contract that no file has put in force, by its hash, so that turns can be
// pinned to it. The text is the whole contract.
func (r *Registry) Keep(k *contract.Contract, text []byte) error {
	name := path.Join(contracts, k.Hash().Hex()+".toml")
	if _, err := r.store.root.Stat(name); err == nil {
		return nil
	}
	err := disk.Replace(filepath.Join(r.store.dir, filepath.FromSlash(name)), text, 0o600)
	if err == nil {
		_, err = r.Contract(k.Hash())
	}
	return err
}

// Pinned gives a contract with named revisions of its adapters, whatever the contract's
// sources are now. Each is stored here; an adapter that lives at an upstream has the
// revision that its source gives it.
func (r *Registry) Pinned(k *contract.Contract, named map[string]ids.Digest) (Snapshot, error) {
	out := Snapshot{Contract: k}
	for _, a := range k.Adapters {
		rev, err := r.pin(a, named[a.Name])
		if err != nil {
			return Snapshot{}, err
		}
		out.Adapters = append(out.Adapters, Entry{Revision: rev, Title: a.Title, Description: a.Description, Prompt: a.Prompt})
	}
	return out, nil
}

func (r *Registry) pin(a contract.Adapter, h ids.Digest) (adapter.Revision, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if isUpstream(a.Source) {
		return r.inspect(a)
	}
	a.Source = string(h)
	rev, err := r.inspect(a)
	if err != nil {
		e := *errs.As(err)
		e.Message = fmt.Sprintf("the adapter %s of the release cannot be used: %s", a.Name, e.Message)
		err = &e
	}
	return rev, err
}

// Upstream reports whether an adapter lives at an engine below, which knows it by a name.
func Upstream(a contract.Adapter) bool { return isUpstream(a.Source) }

// Stored gives the text of a contract that this home keeps, whole in one.
func (r *Registry) Stored(h ids.Digest) ([]byte, error) {
	if _, err := r.Contract(h); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(r.store.dir, contracts, h.Hex()+".toml"))
	return text, disk.Error(err, "the kept contract "+h.Short()+" cannot be read")
}
