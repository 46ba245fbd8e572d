package engineserver

import (
	"slices"
	"sync"

	"macaron/internal/adapter"
)

// Hold is Find for a request: the revision stays loadable until release is called, even
// when its name is taken away or given to other weights in the meantime.
func (n *Names) Hold(name string) (r adapter.Revision, release func(), err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i := n.at(name); i >= 0 {
		r = n.list[i].Revision
		n.held[r.Hash]++
		return r, sync.OnceFunc(func() { n.release(r) }), nil
	}
	r, err = n.base(name)
	return r, func() {}, err
}

func (n *Names) release(r adapter.Revision) {
	n.mu.Lock()
	if n.held[r.Hash]--; n.held[r.Hash] == 0 {
		delete(n.held, r.Hash)
	}
	left := len(n.garbage)
	n.mu.Unlock()
	// Whoever loads or unloads at this moment sweeps at the end.
	if left > 0 && n.loading.TryLock() {
		n.sweep()
		n.loading.Unlock()
	}
}

// sweep drops the revisions that no name stands for and no request holds. The caller holds
// the lock of loading, so that none of them is being named again.
func (n *Names) sweep() {
	var gone []adapter.Revision
	n.mu.Lock()
	n.garbage = slices.DeleteFunc(n.garbage, func(r adapter.Revision) bool {
		named := slices.ContainsFunc(n.list, func(a Adapter) bool { return a.Revision.Hash == r.Hash })
		if !named && n.held[r.Hash] > 0 {
			return false
		}
		if !named {
			gone = append(gone, r)
		}
		return true
	})
	n.mu.Unlock()
	for _, r := range gone {
		if n.opts.Drop != nil {
			n.opts.Drop(r)
		}
	}
}
