package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"macaron/internal/adapter"
	"macaron/internal/contract"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/turn"
)

// catalogue is the contract in force with the revisions of its adapters, and every
// contract that an open turn may be pinned to.
type catalogue struct {
	mu   sync.Mutex
	now  turn.Catalog
	past map[ids.Digest]*contract.Contract
	dir  string // of kept contracts
}

func (a *App) openCatalogue(Options) error {
	c := &catalogue{past: map[ids.Digest]*contract.Contract{}, dir: filepath.Join(a.cfg.Home, "contracts")}
	k, err := contract.Load(a.cfg.Contract)
	if err != nil {
		return err
	}
	c.now.Contract = k
	for _, entry := range k.Adapters {
		r, err := inspect(filepath.Dir(a.cfg.Contract), entry)
		if err != nil {
			return err
		}
		c.now.Adapters = append(c.now.Adapters, r)
	}
	a.catalogue = c
	return c.keep(a.cfg.Contract, k)
}

func inspect(base string, entry contract.Adapter) (adapter.Revision, error) {
	if strings.HasPrefix(entry.Source, "model:") {
		return adapter.Revision{Name: entry.Name, Hash: ids.DigestOf([]byte(entry.Source)), Source: entry.Source}, nil
	}
	r, err := lora.Inspect(filepath.Join(base, entry.Source))
	r.Name = entry.Name
	return r, err
}

// keep stores the contract's text by its hash, for turns that outlive it.
func (c *catalogue) keep(path string, k *contract.Contract) error {
	c.past[k.Hash()] = k
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.MkdirAll(c.dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(c.file(k.Hash()), text, 0o600)
	}
	return errs.Wrap(errs.StorageFailed, err, "the contract cannot be kept in "+c.dir, "free space on the disk of MACARON_HOME")
}

func (c *catalogue) file(h ids.Digest) string { return filepath.Join(c.dir, h.Hex()+".toml") }

// Current implements turn.Catalogue.
func (c *catalogue) Current(context.Context, string) (turn.Catalog, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now, nil
}

// Contract implements turn.Catalogue.
func (c *catalogue) Contract(h ids.Digest) (*contract.Contract, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.past[h]; k != nil {
		return k, nil
	}
	k, err := contract.Load(c.file(h))
	if err != nil {
		return nil, err
	}
	if k.Hash() != h {
		return nil, errs.Newf(errs.ChecksumMismatch, "the kept contract %s is not what its name says", h.Short())
	}
	c.past[h] = k
	return k, nil
}
