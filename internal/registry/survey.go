package registry

import (
	"macaron/internal/adapter"
	"macaron/internal/contract"
	"macaron/internal/disk"
	"macaron/internal/engine/lora"
	"macaron/internal/ids"
)

// Surveyed is a registered adapter as it stands, usable or not.
type Surveyed struct {
	contract.Adapter
	Revision adapter.Revision
	Dir      string // of its files; "" for an upstream's
	Err      error  // why it cannot be used
}

// Survey looks at every adapter of a contract file and goes on where one is unusable.
// It changes nothing but the directories of the store, which it makes if needed.
func Survey(home, contractPath string) (*contract.Contract, []Surveyed, error) {
	k, err := contract.Load(contractPath)
	if err != nil {
		return nil, nil, err
	}
	s, err := openStore(home)
	if err != nil {
		return nil, nil, err
	}
	r := &Registry{path: contractPath, store: s}
	var out []Surveyed
	for _, a := range k.Adapters {
		out = append(out, r.survey(a))
	}
	return k, out, disk.Error(s.root.Close(), "the adapter store cannot be closed")
}

func (r *Registry) survey(a contract.Adapter) Surveyed {
	s := Surveyed{Adapter: a}
	switch dir, ok := r.directory(a.Source); {
	case isUpstream(a.Source):
		s.Revision.Hash = ids.DigestOf([]byte(a.Source))
	case ok:
		s.Dir = dir
		s.Revision, s.Err = lora.Inspect(dir)
	default:
		h, err := ids.ParseDigest(a.Source)
		if err != nil {
			s.Err = err
			return s
		}
		if s.Revision, s.Err = r.store.inspect(h); s.Err == nil {
			s.Dir, s.Err = r.store.dirOf(h)
		}
	}
	s.Revision = named(s.Revision, a)
	return s
}
