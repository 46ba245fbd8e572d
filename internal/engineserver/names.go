// Package engineserver keeps what a server of the engine alone offers under names: the
// base, and adapters that are loaded and unloaded while it runs. A name is only a way to
// find a revision; what is cached and computed knows the revision alone, so a name that is
// given to other weights never meets what the old ones left behind.
package engineserver

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"macaron/internal/adapter"
	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// maxAdapters bounds the names; their weights are paged by the engine.
const maxAdapters = 4096

// Adapter is a loaded one.
type Adapter struct {
	Name     string
	Path     string // as it was given
	Revision adapter.Revision
	Loaded   time.Time
	dir      string // what Path means
}

// Options say what may be loaded.
type Options struct {
	Base  []string                                         // names of the base, its own first
	Dirs  []string                                         // adapters lie under these; none: anywhere
	Check func(name, dir string) (adapter.Revision, error) // loads an adapter as requests will
	Drop  func(adapter.Revision)                           // told of revisions that no name stands for any more
	Clock clock.Clock
}

// Names is the list. It is safe for concurrent use.
type Names struct {
	opts    Options
	loading sync.Mutex // one load or unload at a time, so that a name is never half changed

	mu      sync.RWMutex
	list    []Adapter          // in the order of loading
	held    map[ids.Digest]int // by requests
	garbage []adapter.Revision // without a name, and perhaps still held
}

// New makes a list with the base alone.
func New(o Options) *Names { return &Names{opts: o, held: map[ids.Digest]int{}} }

// Base gives the names of the base.
func (n *Names) Base() []string { return n.opts.Base }

// List gives the adapters in the order in which they were loaded.
func (n *Names) List() []Adapter {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return slices.Clone(n.list)
}

// Find gives the revision that a name stands for now; the base's is the zero one.
func (n *Names) Find(name string) (adapter.Revision, error) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if i := n.at(name); i >= 0 {
		return n.list[i].Revision, nil
	}
	return n.base(name)
}

// base gives the bare base for its names.
func (n *Names) base(name string) (adapter.Revision, error) {
	if slices.Contains(n.opts.Base, name) {
		return adapter.Revision{}, nil
	}
	return adapter.Revision{}, errs.New(errs.ModelNotFound, fmt.Sprintf("The model `%s` does not exist.", errs.Clip(name)), "GET /v1/models lists what there is").In("model")
}

// Dir gives the directory of a revision, for the engine that pages it in.
func (n *Names) Dir(r adapter.Revision) (string, error) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for _, a := range n.list {
		if a.Revision.Hash == r.Hash {
			return a.dir, nil
		}
	}
	return "", errs.Newf(errs.AdapterNotFound, "the adapter %q was unloaded", r.Name)
}

// Load reads an adapter and gives it a name. A name that is in use is refused unless
// inplace is set; then requests that have begun keep the old weights.
func (n *Names) Load(name, path string, inplace bool) error {
	if err := n.checkName(name); err != nil {
		return err
	}
	n.loading.Lock()
	defer n.loading.Unlock()
	defer n.sweep()
	if !inplace && n.has(name) {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("The lora adapter '%s' has already been loaded.", name),
			"If you want to load the adapter in place, set 'load_inplace' to True.").In("lora_name")
	}
	if !n.has(name) && len(n.List()) >= maxAdapters {
		return errs.New(errs.TooLarge, fmt.Sprintf("%d adapters are loaded already", maxAdapters), "unload one").In("lora_name")
	}
	dir, err := n.inside(path)
	if err != nil {
		return err
	}
	return n.take(name, path, dir)
}

// Preload is Load for the operator, whose paths lead anywhere.
func (n *Names) Preload(name, path string) error {
	if err := n.checkName(name); err != nil {
		return err
	}
	n.loading.Lock()
	defer n.loading.Unlock()
	defer n.sweep()
	if n.has(name) {
		return errs.Newf(errs.InvalidRequest, "two adapters are named %q", name).In("lora-modules")
	}
	dir, err := filepath.Abs(path)
	if err != nil {
		return errs.Wrap(errs.InvalidRequest, err, "the path of the adapter "+name+" means nothing", "")
	}
	return n.take(name, path, dir)
}

// take reads an adapter and sets its name; the caller holds the lock of loading.
func (n *Names) take(name, path, dir string) error {
	rev, err := n.opts.Check(name, dir)
	if err != nil {
		return err
	}
	n.put(Adapter{Name: name, Path: path, Revision: rev, Loaded: n.opts.Clock.Now(), dir: dir})
	return nil
}

// Unload takes a name away; requests that have begun go on.
func (n *Names) Unload(name string) error {
	n.loading.Lock()
	defer n.loading.Unlock()
	defer n.sweep()
	n.mu.Lock()
	i := n.at(name)
	if i < 0 {
		n.mu.Unlock()
		return errs.Newf(errs.AdapterNotFound, "The lora adapter '%s' cannot be found.", errs.Clip(name)).In("lora_name")
	}
	n.garbage = append(n.garbage, n.list[i].Revision)
	n.list = slices.Delete(n.list, i, i+1)
	n.mu.Unlock()
	return nil
}

// put sets a name.
func (n *Names) put(a Adapter) {
	n.mu.Lock()
	defer n.mu.Unlock()
	i := n.at(a.Name)
	if i < 0 {
		n.list = append(n.list, a)
		return
	}
	n.garbage = append(n.garbage, n.list[i].Revision)
	n.list[i] = a
}

func (n *Names) has(name string) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.at(name) >= 0
}

// at is the place of a name, -1 for none; the caller holds the lock.
func (n *Names) at(name string) int {
	return slices.IndexFunc(n.list, func(a Adapter) bool { return a.Name == name })
}

func (n *Names) checkName(name string) error {
	switch {
	case name == "" || len(name) > 256 || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return errs.New(errs.InvalidRequest, fmt.Sprintf("%.64q is no name for an adapter", name), "give 1 to 256 bytes without control characters").In("lora_name")
	case slices.Contains(n.opts.Base, name):
		return errs.Newf(errs.InvalidRequest, "The lora adapter '%s' conflicts with a served base model.", name).In("lora_name")
	}
	return nil
}
