package local

import (
	"container/list"

	"macaron/internal/engine/lora"
	"macaron/internal/ids"
	"macaron/internal/mint"
)

// recent keeps the adapters that were sampled from last, by the digest of their archives.
// Those that running requests use stay in memory as long as these do, whatever it keeps.
type recent struct {
	limit, bytes int64
	byDigest     map[ids.Digest]*list.Element
	order        list.List // *held, the latest first
}

type held struct {
	digest  ids.Digest
	adapter *lora.Adapter
}

func newRecent(limit int64) *recent {
	return &recent{limit: limit, byDigest: map[ids.Digest]*list.Element{}}
}

func (r *recent) get(d ids.Digest) *lora.Adapter {
	e := r.byDigest[d]
	if e == nil {
		return nil
	}
	r.order.MoveToFront(e)
	return e.Value.(*held).adapter
}

func (r *recent) put(d ids.Digest, a *lora.Adapter) {
	if r.byDigest[d] != nil {
		return
	}
	r.byDigest[d] = r.order.PushFront(&held{d, a})
	r.bytes += a.Bytes()
	for r.bytes > r.limit && r.order.Len() > 1 {
		last := r.order.Remove(r.order.Back()).(*held)
		delete(r.byDigest, last.digest)
		r.bytes -= last.adapter.Bytes()
	}
}

// adapter gives a stored adapter in memory; nil for none.
func (w *Worker) adapter(s *mint.Stored) (*lora.Adapter, error) {
	if s == nil {
		return nil, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock() // one is read at a time: many requests come for one adapter
	if a := w.adapters.get(s.Digest); a != nil {
		return a, nil
	}
	files, err := s.Read()
	if err != nil {
		return nil, err
	}
	c, err := lora.Parse(files.Config, files.Tensors)
	if err != nil {
		return nil, err
	}
	a, err := c.Adapter(w.shape)
	if err == nil {
		w.adapters.put(s.Digest, a)
	}
	return a, err
}
