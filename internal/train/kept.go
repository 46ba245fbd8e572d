package train

import (
	"encoding/binary"
	"errors"
	"math"

	"macaron/internal/engine/lora"
	"macaron/internal/engine/model"
)

// Kept is the prompts of a trainer that stay over its optimizer steps: their keys and values
// are those of the adapter that they were captured with. They are captured anew when they
// are Refresh adapters old. Before that the interval is 1, doubles while capturing anew
// changed no log probability of a response by more than half of Drift, and halves when it did
// by more than Drift. Prompts that a call has not are let go. The zero value is empty; Drop
// gives the memory back.
type Kept struct {
	Refresh int     // 0: DefaultRefresh
	Drift   float64 // nats; 0: DefaultDrift

	arena    *model.Arena
	file     scratch
	free     []int32
	prompts  map[string]heldPrompt // by their tokens from position 0 on
	last     *lora.Adapter         // of the last call
	age      int                   // adapters since the capture
	interval int
}

// What holds where settings are zero.
const (
	DefaultRefresh = 8
	DefaultDrift   = 0.05
)

// heldPrompt is a stretch of a prompt.
type heldPrompt struct {
	lo    int
	pages []int32 // the path's
	own   int
}

const spareSlots = 1024 // of pages, which take no memory until they are used

// begin enters a call.
func (k *Kept) begin(p *pass, a *lora.Adapter) {
	p.resident = k
	if k.last != nil && k.last != a {
		k.age++
	}
	k.last, k.interval = a, max(k.interval, 1)
}

// match finds the prompts that are there already. If what is to come has no place beside
// them, there are none any more.
func (k *Kept) match(root *stretch, by rowsBy) error {
	if k.arena == nil {
		k.age = 0
		return nil
	}
	used := map[string]bool{}
	root.eachFixed(nil, func(s *stretch, path string) {
		if h, ok := k.prompts[path]; ok && h.lo == s.lo && (s.parent.kept || s.parent.parent == nil) {
			s.kept, s.pages, s.own = true, h.pages, h.own
			used[path] = true
		}
	})
	for path, h := range k.prompts {
		if !used[path] {
			k.release(h)
			delete(k.prompts, path)
		}
	}
	if len(used) == 0 {
		k.age = 0
	}
	if len(k.free) >= root.room(by) {
		return nil
	}
	root.eachFixed(nil, func(s *stretch, _ string) { s.kept, s.pages = false, nil })
	last := k.last
	err := k.Drop()
	k.last, k.interval = last, 1
	return err
}

func (k *Kept) release(h heldPrompt) {
	own := h.pages[len(h.pages)-h.own:]
	k.arena.Forget(own)
	k.free = append(k.free, own...)
}

// eachFixed calls f for prompts, parents first, with their tokens from position 0 on.
func (s *stretch) eachFixed(path []int32, f func(s *stretch, path string)) {
	for _, c := range s.children {
		if c.fixed {
			all := append(path[:len(path):len(path)], c.tokens...)
			name := make([]byte, 0, 4*len(all))
			for _, t := range all {
				name = binary.LittleEndian.AppendUint32(name, uint32(t))
			}
			f(c, string(name))
			c.eachFixed(all, f)
		}
	}
}

// askNothing drops what is asked for within prompts: it may not be computed.
func (s *stretch) askNothing() {
	s.eachFixed(nil, func(c *stretch, _ string) { c.asks = nil })
}

// lend gives the pass the arena, if there is one.
func (k *Kept) lend(p *pass) bool {
	if k.arena != nil {
		p.arena, p.file, p.free = k.arena, k.file, k.free
	}
	return k.arena != nil
}

// renew drops prompts that are too old, and gives before that the log probabilities of the
// first response to each.
func (k *Kept) renew(p *pass, root *stretch) (before map[int][]float32, err error) {
	if k.age < k.interval {
		return nil, nil
	}
	before = map[int][]float32{}
	root.eachFixed(nil, func(s *stretch, _ string) {
		if err != nil || !s.kept {
			return
		}
		for _, c := range s.children {
			if !c.fixed {
				err = p.preview(c, before)
				return
			}
		}
	})
	root.eachFixed(nil, func(s *stretch, path string) {
		if h, ok := k.prompts[path]; ok {
			own := h.pages[len(h.pages)-h.own:]
			p.arena.Forget(own)
			p.free = append(p.free, own...)
			delete(k.prompts, path)
		}
		s.kept, s.pages = false, nil
	})
	k.age = 0
	return before, err
}

// preview computes a response forward.
func (p *pass) preview(s *stretch, into map[int][]float32) error {
	k := newPack(s, s.hi-s.lo)
	k.cut(p.g.o.rowsBy().forward())
	err := p.open(k)
	if err == nil {
		err = p.forward(k)
	}
	if cerr := p.close(k); err == nil {
		err = cerr
	}
	for _, i := range s.ends {
		into[i], p.logprobs[i] = p.logprobsOf(i), nil
	}
	p.watch = into
	return err
}

// compare measures the drift, and sets the next interval by it.
func (k *Kept) compare(p *pass, before map[int][]float32) {
	p.found.Age = k.age
	if len(before) == 0 {
		return
	}
	p.found.Probed, p.found.Drift = true, p.drift
	bound, most := k.Drift, k.Refresh
	if bound <= 0 {
		bound = DefaultDrift
	}
	if most <= 0 {
		most = DefaultRefresh
	}
	switch {
	case p.drift > bound:
		k.interval = max(1, k.interval/2)
	case p.drift <= bound/2:
		k.interval *= 2
	}
	k.interval = min(k.interval, most)
}

// seeDrift compares the log probabilities of a sequence with those before.
func (p *pass) seeDrift(i int) {
	for j, f := range p.watch[i] {
		p.drift = max(p.drift, math.Abs(float64(f)-float64(p.logprobs[i][j])))
	}
}

// end takes the arena back with the prompts of the pass; after an error nothing is kept.
func (k *Kept) end(p *pass, root *stretch, failed error) error {
	var err error
	if k.file != nil && k.file != p.file {
		err = k.file.Close()
	}
	k.arena, k.file, k.free, k.prompts = p.arena, p.file, p.free, map[string]heldPrompt{}
	if failed != nil || p.arena == nil {
		return errors.Join(err, k.Drop())
	}
	root.eachFixed(nil, func(s *stretch, path string) {
		k.prompts[path] = heldPrompt{s.lo, s.pages, s.own}
	})
	return err
}

// Drop forgets all prompts: the next call captures its own.
func (k *Kept) Drop() error {
	f := k.file
	*k = Kept{Refresh: k.Refresh, Drift: k.Drift}
	if f == nil {
		return nil
	}
	return f.Close()
}
